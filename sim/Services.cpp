// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The services that kernels reach through their block context. While a service allocates or holds
// a lock, the slot is marked, so that Ctrl-C does not leave it half way.

#include "abi/TransferQueues.h"
#include "sim/DevicePrint.h"
#include "sim/Faults.h"
#include "sim/Gemm.h"
#include "sim/Sanitizers.h"
#include "sim/Waits.h"
#include "sim/Worker.h"

#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

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

PITON_LEAVES_EARLY void serviceWait(BlockContext *context, const WaitRequest *request) {
  Slot &slot = slotOf(context);
  slot.waitsAt = PITON_CALLER - 1;
  if (endIfJobFailed(slot, request))
    slot.leave(BlockExit::Stopped);
  slot.waitRequest = request;
  if (!request->known) {
    const_cast<WaitRequest *>(request)->known = 1;
    ++slot.worker->newWaits;
  }
  waitAtYield(slot);
  slot.waitRequest = nullptr;
}

PITON_LEAVES_EARLY void serviceWake(BlockContext *, uint32_t *word) {
  syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

std::string describeDeviceError(const Slot &slot, DeviceError error, int64_t value, int64_t a,
                                int64_t b) {
  switch (error) {
  case DeviceError::PeOutOfRange:
    return "PE " + std::to_string(value) + " is out of range: there are " + std::to_string(a) +
           " PEs, 0 to " + std::to_string(a - 1);
  case DeviceError::NotSymmetric: {
    char text[192];
    std::snprintf(text, sizeof(text),
                  "address 0x%" PRIx64 " is not in the symmetric heap of this PE (0x%" PRIx64
                  " to 0x%" PRIx64 "); allocate it with aclshmem_create_tensor",
                  static_cast<uint64_t>(value), static_cast<uint64_t>(a),
                  static_cast<uint64_t>(a + b));
    return text;
  }
  case DeviceError::BadTeam:
    return "this PE is in no team " + std::to_string(value);
  case DeviceError::BadSignalOp:
    return "signal operation " + std::to_string(value) + " is neither 0 (set) nor 1 (add)";
  case DeviceError::BadCompare:
    return "comparison " + std::to_string(value) +
           " is none of 0 to 5 (equal, not equal, greater, greater or equal, less, less or equal)";
  case DeviceError::Unreachable:
    return "PE " + std::to_string(value) + " is not reached by any engine";
  case DeviceError::OutsideHeap: {
    char text[160];
    std::snprintf(text, sizeof(text),
                  "%" PRId64 " bytes from heap + 0x%" PRIx64
                  " on go beyond the end of the symmetric heap, which has 0x%" PRIx64 " bytes",
                  a, static_cast<uint64_t>(value), static_cast<uint64_t>(b));
    return text;
  }
  case DeviceError::TransferFailed:
    return "a transfer to or from PE " + std::to_string(value) + " failed with status " +
           std::to_string(a) +
           (a == kUdmaBadAddress ? ": its address on this PE is not memory of this process, or may "
                                   "not be accessed in this way"
                                 : "");
  }
  return "wrong call of a device function";
}

PITON_LEAVES_EARLY void serviceDeviceError(BlockContext *context, uint32_t error, int64_t value,
                                           int64_t a, int64_t b) {
  Slot &slot = slotOf(context);
  uint64_t caller = PITON_CALLER - 1;
  slot.inService = true;
  slot.launch->fail(PITON_ERROR_INVALID_ARGUMENT,
                    describePlace(slot, caller) + ": " +
                        describeDeviceError(slot, static_cast<DeviceError>(error), value, a, b));
  slot.leave(BlockExit::Assert);
}

//===-- PEs of other hosts ------------------------------------------------------------------===//

/// Looks at every page of what the network will read or write, so that a wrong pointer is an error
/// at the kernel's line.
void touchLocal(const RemoteRequest &request) {
  if (request.op != RemoteOp::Put && request.op != RemoteOp::Get)
    return;
  auto *data = static_cast<uint8_t *>(request.local);
  volatile uint8_t nothing = 0; // of a constant the compiler would make a load
  auto touch = [&](uint64_t at) {
    if (request.op == RemoteOp::Get)
      __atomic_fetch_or(data + at, nothing, __ATOMIC_RELAXED);
    else
      (void)*static_cast<const volatile uint8_t *>(data + at);
  };
  for (uint64_t at = 0; at < request.bytes; at += 4096)
    touch(at);
  touch(request.bytes - 1);
}

WaitRequest waitOnRemote(const RemoteRequest &request) {
  WaitRequest wait = {};
  wait.kind = static_cast<uint32_t>(WaitKind::Remote);
  wait.seen = request.op == RemoteOp::Quiet ? -1 : request.pe;
  wait.team = kTeamInvalid;
  return wait;
}

void recordRemoteFailure(const Slot &slot, const RemoteEngine &engine, int32_t pe) {
  char why[256] = "";
  engine.why(engine.self, pe, why, sizeof(why));
  slot.launch->fail(PITON_ERROR_SYSTEM, describePlace(slot, slot.waitsAt) + ": " + why);
}

using Seconds = std::chrono::duration<double>;
double now() { return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// A peer that is gone fails operations at once; that it has died, and which PE it was, is known a
/// moment later.
constexpr double kPatience = 3;

/// The slot is marked all the time: whoever stops the launch finds it between two looks, where the
/// ticket can be given back.
PITON_LEAVES_EARLY void serviceRemote(BlockContext *context, RemoteRequest *request) {
  Slot &slot = slotOf(context);
  slot.serviceCaller = PITON_CALLER;
  touchLocal(*request);
  slot.serviceCaller = 0;
  slot.waitsAt = PITON_CALLER - 1;
  slot.inService = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const RemoteEngine &engine = *stateOf(*slot.launch)->remote;
  RemoteTicket *ticket = nullptr;
  RemoteStatus status = engine.start(engine.self, request, &ticket);
  WaitRequest wait = {};
  double failed = 0;
  while (status != RemoteStatus::Done) {
    if (!slot.waitRequest) {
      wait = waitOnRemote(*request);
      slot.waitRequest = &wait;
      ++slot.worker->newWaits;
    }
    bool stops = slot.launch->stopped() || endIfJobFailed(slot, &wait);
    if (status == RemoteStatus::Failed) {
      failed = failed != 0 ? failed : now();
      if (!stops && now() - failed > kPatience) {
        recordRemoteFailure(slot, engine, request->pe);
        stops = true;
      }
    }
    if (stops) {
      if (status == RemoteStatus::Pending)
        engine.abandon(engine.self, ticket);
      slot.leave(BlockExit::Stopped);
    }
    if (slot.isFiber)
      suspendFiber(slot);
    else
      sched_yield();
    if (status == RemoteStatus::Pending)
      status = engine.poll(engine.self, ticket, request);
  }
  slot.waitRequest = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  slot.inService = false;
  if (slot.launch->stopped()) // an interrupt that came meanwhile was not acted on
    slot.leave(BlockExit::Stopped);
}

} // namespace

const BlockServices kBlockServices = {
    kKernelAbiVersion, 0,           serviceYield,       servicePrint,
    serviceAssertFail, serviceGemm, serviceLock,        serviceUnlock,
    serviceWait,       serviceWake, serviceDeviceError, serviceRemote,
};

} // namespace piton::sim
