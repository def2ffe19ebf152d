// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The services that kernels reach through their block context. While a service allocates or holds
// a lock, the slot is marked, so that Ctrl-C does not leave it half way.

#include "sim/DevicePrint.h"
#include "sim/Faults.h"
#include "sim/Gemm.h"
#include "sim/Sanitizers.h"
#include "sim/Worker.h"

#include <atomic>
#include <sched.h>

namespace piton::sim {
namespace {

Slot &slotOf(BlockContext *context) { return *static_cast<Slot *>(context->machine); }

/// The address behind the call in the kernel; only right in the service itself.
#define PITON_CALLER reinterpret_cast<uint64_t>(__builtin_return_address(0))

PITON_LEAVES_EARLY void waitAtYield(Slot &slot) {
  if (slot.launch->stopped())
    slot.leave(BlockExit::Stopped);
  if (!slot.isFiber) {
    sched_yield();
    return;
  }
  suspendFiber(slot);
  if (slot.launch->stopped())
    slot.leave(BlockExit::Stopped);
}

PITON_LEAVES_EARLY void serviceYield(BlockContext *context) {
  Slot &slot = slotOf(context);
  slot.waitsAt = PITON_CALLER - 1;
  waitAtYield(slot);
}

/// Reads every page of the operands while no lock is held: a bad pointer faults here, where the
/// block can be left safely.
void touchOperands(const PrintOperand *operands, uint32_t count) {
  for (uint32_t k = 0; k < count; ++k) {
    uint64_t bytes = operands[k].count * elementBytes(static_cast<ElementType>(operands[k].type));
    const auto *data = static_cast<const volatile uint8_t *>(operands[k].data);
    for (uint64_t i = 0; i < bytes; i += 4096)
      (void)data[i];
    if (bytes)
      (void)data[bytes - 1];
  }
}

void printMarked(Slot &slot, const char *prefix, bool hex, const PrintOperand *operands,
                 uint32_t count) {
  slot.inService = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  formatPrint(slot.printed, slot.context.pid, prefix, hex, operands, count);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  slot.inService = false;
}

PITON_LEAVES_EARLY void servicePrint(BlockContext *context, const char *prefix, uint32_t hex,
                                     const PrintOperand *operands, uint32_t count) {
  Slot &slot = slotOf(context);
  slot.serviceCaller = PITON_CALLER;
  touchOperands(operands, count);
  slot.serviceCaller = 0;
  printMarked(slot, prefix, hex != 0, operands, count);
  if (slot.launch->stopped()) // an interrupt that came meanwhile was not acted on
    slot.leave(BlockExit::Stopped);
}

void recordAssert(Slot &slot, const char *message, const char *file, uint32_t line) {
  slot.inService = true;
  std::string text = file && *file ? std::string(file) + ":" + std::to_string(line) + ": " : "";
  text += "device assertion failed";
  if (message && *message)
    text += std::string(": ") + message;
  slot.launch->fail(PITON_ERROR_KERNEL_ASSERT, text + " (" + describeBlock(slot) + ")");
}

PITON_LEAVES_EARLY void serviceAssertFail(BlockContext *context, const char *message,
                                          const char *file, uint32_t line) {
  Slot &slot = slotOf(context);
  recordAssert(slot, message, file, line);
  slot.leave(BlockExit::Assert);
}

/// Grows the worker's scratch on its first tile product.
bool reserveScratch(Slot &slot) {
  slot.inService = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  bool done = slot.worker->scratch.reserve(gemmScratchBytes());
  std::atomic_signal_fence(std::memory_order_seq_cst);
  slot.inService = false;
  return done;
}

void recordGemmFailure(Slot &slot, const GemmRequest &request) {
  slot.inService = true;
  bool supported = gemmSupports(request.type);
  slot.launch->fail(supported ? PITON_ERROR_OUT_OF_MEMORY : PITON_ERROR_INVALID_IMAGE,
                    (supported ? "no memory for the scratch of a tile product ("
                               : "tile product of unsupported element type " +
                                     std::to_string(request.type) + " (") +
                        describeBlock(slot) + ")");
}

PITON_LEAVES_EARLY void serviceGemm(BlockContext *context, const GemmRequest *request) {
  Slot &slot = slotOf(context);
  Memory &scratch = slot.worker->scratch;
  bool ready = scratch.data() != nullptr;
  if (!ready) {
    ready = reserveScratch(slot);
    if (slot.launch->stopped()) // an interrupt that came meanwhile was not acted on
      slot.leave(BlockExit::Stopped);
  }
  if (ready) {
    slot.serviceCaller = PITON_CALLER;
    bool done = gemm(*request, scratch.data(), scratch.size());
    slot.serviceCaller = 0;
    if (done)
      return;
  }
  recordGemmFailure(slot, *request);
  slot.leave(BlockExit::Stopped);
}

PITON_LEAVES_EARLY void serviceLock(BlockContext *context, uint64_t *word) {
  Slot &slot = slotOf(context);
  slot.waitsAt = PITON_CALLER - 1;
  for (;;) {
    if (__atomic_load_n(word, __ATOMIC_RELAXED) == 0 &&
        __atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE) == 0)
      return;
    waitAtYield(slot);
  }
}

PITON_LEAVES_EARLY void serviceUnlock(BlockContext *, uint64_t *word) {
  __atomic_store_n(word, 0, __ATOMIC_RELEASE);
}

} // namespace

const BlockServices kBlockServices = {
    kKernelAbiVersion, 0,           serviceYield, servicePrint,
    serviceAssertFail, serviceGemm, serviceLock,  serviceUnlock,
};

} // namespace piton::sim
