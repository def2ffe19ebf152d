// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finding and loading the library of the ROCE transport.

#include "runtime/transports/roce/Roce.h"

#include "runtime/shmem/Report.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

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

using Variables = std::vector<std::pair<std::string, std::string>>;

/// Adds to the environment what it does not name yet. Not by setenv(), which may free the list of
/// variables while another thread reads it, UCX for another PE or whoever else calls getenv(): a
/// new list takes the place of the old one, which stays.
static void addToEnvironment(const Variables &variables) {
  static std::mutex mutex;
  static auto &lists =
      *new std::vector<char **>; // for leak checkers: a later setenv() forgets them
  std::lock_guard lock(mutex);
  std::vector<char *> list;
  for (char **at = environ; at && *at; ++at)
    list.push_back(*at);
  size_t before = list.size();
  for (const auto &[name, value] : variables)
    if (!std::getenv(name.c_str()))
      list.push_back(strdup((name + "=" + value).c_str()));
  if (list.size() == before)
    return;
  list.push_back(nullptr);
  auto *lasting = new char *[list.size()];
  std::copy(list.begin(), list.end(), lasting);
  lists.push_back(lasting);
  __atomic_store_n(&environ, lasting, __ATOMIC_RELEASE);
}

/// Takes a number that the network wants in every packet for UCX; false, after a report, if it is
/// none.
static bool passOn(const char *name, const char *ucxName, long standard, long most, long multiple,
                   Variables &out) {
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
  out.emplace_back(ucxName, std::to_string(value));
  return true;
}

std::unique_ptr<RoceTransport> makeRoceTransport(const RoceSetup &setup) {
  // Faults belong to the simulator's handler and Python's; memory is not cached by registration.
  // Other hosts stay other hosts where they share a kernel: no detour through shared memory.
  Variables variables = {{"UCX_HANDLE_ERRORS", "none"},
                         {"UCX_ERROR_SIGNALS", ""},
                         {"UCX_MEM_EVENTS", "no"},
                         {"UCX_WARN_UNUSED_ENV_VARS", "n"},
                         {"UCX_TLS", "^sm"}};
  if (!passOn("HCCL_RDMA_TC", "UCX_IB_TRAFFIC_CLASS", 132, 255, 4, variables) ||
      !passOn("HCCL_RDMA_SL", "UCX_IB_SL", 4, 7, 1, variables))
    return nullptr;
  addToEnvironment(variables);
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
