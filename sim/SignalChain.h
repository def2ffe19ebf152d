// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Handlers of ours in front of whatever a process has for a signal. Others (Python, faulthandler,
// another library) may put theirs in front later and chain to ours, and ours may go in front of
// those again: every such link has an entry point of its own, so that a signal that comes back
// along the chain continues below the link it arrives at instead of going round.
#ifndef PITON_SIM_SIGNALCHAIN_H
#define PITON_SIM_SIGNALCHAIN_H

#include <csignal>

namespace piton::sim {

/// What to do with a signal. `link` is what passOn takes; the other three are a handler's own.
using ChainHandler = void (*)(int signal, siginfo_t *info, void *context, int link);

/// True if the action leads to a handler that installInFront has installed.
bool isChained(const struct sigaction &action);

/// Puts `handler` in front of the signal's present action, unless one of ours is there already.
/// `flags` beyond SA_SIGINFO and SA_ONSTACK; `blocked` is a further signal to hold back meanwhile,
/// or 0. A signal has one handler: always pass the same. Async-signal-safe; false if another thread
/// is installing one and `wait` is false, or if more than a handful of other handlers came between.
bool installInFront(int signal, ChainHandler handler, int flags, int blocked, bool wait);

/// Hands the signal to the action that was there before link `link`; the default action if none.
void passOn(int signal, siginfo_t *info, void *context, int link);

/// In the child after fork: nobody else is installing.
void resetSignalChainAfterFork();

} // namespace piton::sim

#endif // PITON_SIM_SIGNALCHAIN_H
