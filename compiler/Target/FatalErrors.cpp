// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A jump out of LLVM's fatal error handler. CrashRecoveryContext would do the same, but
// only while its signal handlers are installed, and those displace the handlers by which
// the runtime reports faults of kernels that run on other threads meanwhile.
#include "compiler/Target/FatalErrors.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/PrettyStackTrace.h"

#include <csetjmp>
#include <mutex>

namespace {

struct Catcher {
  jmp_buf where;
  std::string *reason;
};

thread_local Catcher *active = nullptr;

void onFatalError(void *, const char *reason, bool) {
  if (!active)
    return; // LLVM ends the process, as without us
  *active->reason = reason;
  longjmp(active->where, 1);
}

} // namespace

bool piton::runCatchingFatalErrors(llvm::function_ref<void()> work, std::string &reason) {
  static std::once_flag installed;
  std::call_once(installed, [] { llvm::install_fatal_error_handler(onFatalError); });
  Catcher catcher;
  catcher.reason = &reason;
  Catcher *const outer = active;
  const void *const stackTrace = llvm::SavePrettyStackState();
  if (setjmp(catcher.where) == 0) {
    active = &catcher;
    work();
    active = outer;
    return true;
  }
  active = outer;
  llvm::RestorePrettyStackState(stackTrace);
  return false;
}
