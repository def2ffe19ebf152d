// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finding and loading the library of the ROCE transport.

#include "runtime/transports/roce/Roce.h"

#include "runtime/shmem/Report.h"

#include <cstdlib>
#include <dlfcn.h>

namespace piton::shmem {

/// The library lies beside the one that this code is in; PITON_ROCE_LIBRARY names another.
static std::string libraryPath() {
  if (const char *path = std::getenv("PITON_ROCE_LIBRARY"); path && *path)
    return path;
  Dl_info info = {};
  std::string own;
  if (dladdr(reinterpret_cast<void *>(&libraryPath), &info) && info.dli_fname)
    own = info.dli_fname;
  size_t slash = own.rfind('/');
  return (slash == std::string::npos ? "" : own.substr(0, slash + 1)) + "libpiton_roce.so";
}

/// Hands a number that the network wants in every packet on to UCX; false, after a report, if it is
/// none.
static bool passOn(const char *name, const char *ucxName, long standard, long most, long multiple) {
  const char *text = std::getenv(name);
  long value = standard;
  if (text && *text) {
    char *end = nullptr;
    value = std::strtol(text, &end, 10);
    if (*end || value < 0 || value > most || value % multiple) {
      report(ACLSHMEM_INVALID_VALUE, std::string(name) + "=" + text + ": expected 0 to " +
                                         std::to_string(most) +
                                         (multiple > 1 ? ", a multiple of 4" : ""));
      return false;
    }
  }
  setenv(ucxName, std::to_string(value).c_str(), 0);
  return true;
}

std::unique_ptr<RoceTransport> makeRoceTransport(const RoceSetup &setup) {
  if (!passOn("HCCL_RDMA_TC", "UCX_IB_TRAFFIC_CLASS", 132, 255, 4) ||
      !passOn("HCCL_RDMA_SL", "UCX_IB_SL", 4, 7, 1))
    return nullptr;
  // Faults belong to the simulator's handler and Python's; memory is not cached by registration.
  setenv("UCX_HANDLE_ERRORS", "none", 0);
  setenv("UCX_ERROR_SIGNALS", "", 0);
  setenv("UCX_MEM_EVENTS", "no", 0);
  setenv("UCX_WARN_UNUSED_ENV_VARS", "n", 0);
  // Other hosts stay other hosts where they share a kernel: no detour through shared memory.
  setenv("UCX_TLS", "^sm", 0);
  std::string path = libraryPath();
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  auto factory = library ? reinterpret_cast<RoceFactory>(dlsym(library, kRoceFactory)) : nullptr;
  if (!factory) {
    const char *why = dlerror();
    report(ACLSHMEM_DL_FUNC_FAILED,
           "the ROCE engine, which reaches PEs of other hosts, cannot be loaded: " +
               std::string(why ? why : path) + "; it needs libucx at build and run time");
    return nullptr;
  }
  return std::unique_ptr<RoceTransport>(factory(&setup));
}

} // namespace piton::shmem
