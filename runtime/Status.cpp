// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The per-thread last error and the names of the status codes.

#include "runtime/Status.h"

#include <cstring>

namespace piton {

static thread_local std::string lastMessage;

piton_status_t fail(piton_status_t status, std::string message) {
  lastMessage = std::move(message);
  return status;
}

piton_status_t failErrno(piton_status_t status, std::string message, int code) {
  char buffer[256] = "";
  // The GNU form returns the text, which need not lie in the buffer.
  const char *text = strerror_r(code, buffer, sizeof(buffer));
  return fail(status, std::move(message) + ": " + text);
}

const std::string &lastError() { return lastMessage; }

} // namespace piton

const char *piton_status_name(piton_status_t status) {
  switch (status) {
  case PITON_OK:
    return "PITON_OK";
  case PITON_ERROR_INVALID_ARGUMENT:
    return "PITON_ERROR_INVALID_ARGUMENT";
  case PITON_ERROR_OUT_OF_MEMORY:
    return "PITON_ERROR_OUT_OF_MEMORY";
  case PITON_ERROR_INVALID_IMAGE:
    return "PITON_ERROR_INVALID_IMAGE";
  case PITON_ERROR_UNSUPPORTED:
    return "PITON_ERROR_UNSUPPORTED";
  case PITON_ERROR_LIMIT:
    return "PITON_ERROR_LIMIT";
  case PITON_ERROR_KERNEL_FAULT:
    return "PITON_ERROR_KERNEL_FAULT";
  case PITON_ERROR_KERNEL_ASSERT:
    return "PITON_ERROR_KERNEL_ASSERT";
  case PITON_ERROR_INTERRUPTED:
    return "PITON_ERROR_INTERRUPTED";
  case PITON_ERROR_NOT_INITIALIZED:
    return "PITON_ERROR_NOT_INITIALIZED";
  case PITON_ERROR_NOT_READY:
    return "PITON_ERROR_NOT_READY";
  case PITON_ERROR_SYSTEM:
    return "PITON_ERROR_SYSTEM";
  }
  return "PITON_ERROR_UNKNOWN";
}

const char *piton_last_error(void) { return piton::lastError().c_str(); }
