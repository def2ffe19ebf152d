// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine-dependent core of fibers and of leaving a kernel early: a stack switch and a save
// point, both for x86-64. Own code rather than Boost.Context because Debian's static build of that
// is not position independent and a shared one is a dependency that a wheel cannot carry; and
// rather than setjmp because a signal handler must be able to return into a save point by writing
// its registers into the interrupted context (longjmp out of a handler upsets TSan).
#ifndef PITON_SIM_CONTEXT_H
#define PITON_SIM_CONTEXT_H

#include <cstddef>
#include <cstdint>

#include <csignal>
#include <ucontext.h>

namespace piton::sim {

/// Registers that a function must preserve; the layout is known to the assembly.
struct SavePoint {
  uint64_t rbx, rbp, r12, r13, r14, r15, rsp, rip;
};

extern "C" {
/// Fills `point` and returns 0; returns 1 when something resumes it. The calling frame must still
/// be alive then, and its locals changed in between must be volatile.
[[gnu::returns_twice]] int pitonSavePoint(SavePoint *point);
/// Continues at `point`. Does not return.
[[noreturn]] void pitonResume(const SavePoint *point);
/// Saves the callee-saved state on the current stack, its position in *from, and continues on `to`.
void pitonSwitchStack(void **from, void *to);
}

/// A stack that, when switched to, calls entry(argument). entry must not return.
void *prepareStack(void *top, void (*entry)(void *), void *argument);

/// Makes an interrupted thread continue at `point` when the signal handler returns.
void resumeAfterSignal(ucontext_t *context, const SavePoint &point);

} // namespace piton::sim

#endif // PITON_SIM_CONTEXT_H
