// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stack switch and save points for x86-64, System V calling convention. The floating-point control
// words are callee-saved too and travel with a stack.

#include "sim/Context.h"

#if !defined(__x86_64__)
#error "the simulator supports x86-64 only"
#endif

asm(R"(
  .text
  .p2align 4
  .globl pitonSavePoint
  .hidden pitonSavePoint
  .type pitonSavePoint,@function
pitonSavePoint:
  movq %rbx, 0(%rdi)
  movq %rbp, 8(%rdi)
  movq %r12, 16(%rdi)
  movq %r13, 24(%rdi)
  movq %r14, 32(%rdi)
  movq %r15, 40(%rdi)
  leaq 8(%rsp), %rdx
  movq %rdx, 48(%rdi)
  movq (%rsp), %rdx
  movq %rdx, 56(%rdi)
  xorl %eax, %eax
  ret
  .size pitonSavePoint, .-pitonSavePoint

  .p2align 4
  .globl pitonResume
  .hidden pitonResume
  .type pitonResume,@function
pitonResume:
  movq 0(%rdi), %rbx
  movq 8(%rdi), %rbp
  movq 16(%rdi), %r12
  movq 24(%rdi), %r13
  movq 32(%rdi), %r14
  movq 40(%rdi), %r15
  movq 48(%rdi), %rsp
  movl $1, %eax
  jmpq *56(%rdi)
  .size pitonResume, .-pitonResume

  .p2align 4
  .globl pitonSwitchStack
  .hidden pitonSwitchStack
  .type pitonSwitchStack,@function
pitonSwitchStack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $8, %rsp
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  addq $8, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size pitonSwitchStack, .-pitonSwitchStack

  .p2align 4
  .type pitonStackEntry,@function
pitonStackEntry:
  .cfi_startproc
  .cfi_undefined rip
  movq %r12, %rdi
  callq *%r13
  ud2
  .cfi_endproc
  .size pitonStackEntry, .-pitonStackEntry

  .globl pitonStackEntryAddress
  .hidden pitonStackEntryAddress
  .type pitonStackEntryAddress,@function
pitonStackEntryAddress:
  leaq pitonStackEntry(%rip), %rax
  ret
  .size pitonStackEntryAddress, .-pitonStackEntryAddress
)");

extern "C" uint64_t pitonStackEntryAddress();

namespace piton::sim {

void *prepareStack(void *top, void (*entry)(void *), void *argument) {
  // The frame that pitonSwitchStack pops: control words, r15, r14, r13, r12, rbx, rbp, return
  // address, then a zero that ends back traces.
  auto base = reinterpret_cast<uint64_t>(top) & ~uint64_t(15);
  auto *frame = reinterpret_cast<uint64_t *>(base - 80);
  uint32_t mxcsr;
  uint16_t x87;
  asm volatile("stmxcsr %0" : "=m"(mxcsr));
  asm volatile("fnstcw %0" : "=m"(x87));
  frame[0] = mxcsr | (uint64_t(x87) << 32);
  frame[1] = frame[2] = 0;
  frame[3] = reinterpret_cast<uint64_t>(entry);    // r13
  frame[4] = reinterpret_cast<uint64_t>(argument); // r12
  frame[5] = frame[6] = 0;
  frame[7] = pitonStackEntryAddress();
  frame[8] = frame[9] = 0;
  return frame;
}

void resumeAfterSignal(ucontext_t *context, const SavePoint &point) {
  greg_t *r = context->uc_mcontext.gregs;
  r[REG_RBX] = static_cast<greg_t>(point.rbx);
  r[REG_RBP] = static_cast<greg_t>(point.rbp);
  r[REG_R12] = static_cast<greg_t>(point.r12);
  r[REG_R13] = static_cast<greg_t>(point.r13);
  r[REG_R14] = static_cast<greg_t>(point.r14);
  r[REG_R15] = static_cast<greg_t>(point.r15);
  r[REG_RSP] = static_cast<greg_t>(point.rsp);
  r[REG_RIP] = static_cast<greg_t>(point.rip);
  r[REG_RAX] = 1;
  r[REG_EFL] &= ~greg_t(0x400); // direction flag, which the calling convention wants clear
}

} // namespace piton::sim
