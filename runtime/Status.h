// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Error reporting inside runtime/ and sim/: a function that finds an error calls fail(), which
// stores the message for this thread, and returns its code; callers pass the code on.
#ifndef PITON_RUNTIME_STATUS_H
#define PITON_RUNTIME_STATUS_H

#include "piton/status.h"

#include <string>

namespace piton {

/// Stores `message` as this thread's last error and returns `status`.
piton_status_t fail(piton_status_t status, std::string message);

/// As fail(), with ": " and the text of the errno value `code` appended.
piton_status_t failErrno(piton_status_t status, std::string message, int code);

/// This thread's last error message.
const std::string &lastError();

} // namespace piton

#endif // PITON_RUNTIME_STATUS_H
