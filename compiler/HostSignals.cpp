// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM installs its handlers twice: CrashRecoveryContext::Enable() for faults, and the first
// temporary file (lld writes one) for some twenty signals, Ctrl-C among them. Each happens once in
// a process, so both are provoked here and what they replaced is put back: a handler of LLVM's in
// the chain restores, when it runs, the actions that it found, and takes the runtime's away.
#include "compiler/HostSignals.h"

#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/Signals.h"

#include <csignal>
#include <mutex>

void piton::enableRecoveryWithoutHandlers() {
  static std::once_flag flag;
  std::call_once(flag, [] {
    struct sigaction before[NSIG];
    bool known[NSIG] = {};
    for (int signal = 1; signal < NSIG; ++signal)
      known[signal] = sigaction(signal, nullptr, &before[signal]) == 0;
    llvm::CrashRecoveryContext::Enable();
    const char *noFile = "/piton-no-such-file";
    if (!llvm::sys::RemoveFileOnSignal(noFile))
      llvm::sys::DontRemoveFileOnSignal(noFile);
    for (int signal = 1; signal < NSIG; ++signal)
      if (known[signal])
        sigaction(signal, &before[signal], nullptr);
  });
}
