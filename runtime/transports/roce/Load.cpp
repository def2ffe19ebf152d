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

std::unique_ptr<RoceTransport> makeRoceTransport(const RoceSetup &setup) {
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
