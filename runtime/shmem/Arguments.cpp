// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports of arguments that cannot be used.

#include "runtime/shmem/Arguments.h"

#include "runtime/GuardedMemory.h"
#include "runtime/shmem/Report.h"

namespace piton::shmem {

static int reportNull(const char *call, const char *which) {
  return report(ACLSHMEM_INVALID_PARAM, std::string(call) + ": " + which + " is null");
}

static int reportBad(const char *call, const char *which, const void *at, uint64_t bytes,
                     const BadAccess &bad) {
  return report(ACLSHMEM_INVALID_PARAM,
                std::string(call) + ": " + describeBadMemory(which, at, bytes, bad));
}

int checkReadable(const char *call, const char *which, const void *at, uint64_t bytes) {
  BadAccess bad;
  if (!at)
    return reportNull(call, which);
  return canRead(at, bytes, bad) ? ACLSHMEM_SUCCESS : reportBad(call, which, at, bytes, bad);
}

int checkWritable(const char *call, const char *which, void *at, uint64_t bytes) {
  BadAccess bad;
  if (!at)
    return reportNull(call, which);
  return canWrite(at, bytes, bad) ? ACLSHMEM_SUCCESS : reportBad(call, which, at, bytes, bad);
}

} // namespace piton::shmem
