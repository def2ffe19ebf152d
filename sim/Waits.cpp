// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waits of kernels in a job; see Waits.h. Everything here runs while nothing else can.

#include "sim/Waits.h"

#include "sim/Faults.h"

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <type_traits>
#include <unistd.h>

namespace piton::sim {
namespace {

uint64_t monotonicNanoseconds() {
  timespec t = {};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

const char *compareText(int32_t compare) {
  static constexpr const char *kTexts[] = {"equals",      "differs from", "is greater than",
                                           "is at least", "is less than", "is at most"};
  return compare >= 0 && compare < 6 ? kTexts[compare] : "compares with";
}

/// The PE whose heap holds an address, or -1.
int32_t ownerOf(const DeviceState *state, uint64_t address) {
  return state ? heapOwner(*state, address) : -1;
}

} // namespace

DeviceState *stateOf(const Launch &launch) {
  // The launcher let a distributed kernel start, so the state is mapped and filled.
  return launch.request.inJob || launch.kernel.metadata().distributed
             ? reinterpret_cast<DeviceState *>(kDeviceStateAddress)
             : nullptr;
}

std::string describeAddress(const DeviceState *state, const void *address) {
  auto number = reinterpret_cast<uintptr_t>(address);
  char text[96];
  int32_t pe = ownerOf(state, number);
  if (pe >= 0)
    std::snprintf(text, sizeof(text), "heap + 0x%" PRIx64 " of PE %d",
                  static_cast<uint64_t>((number - state->heapFirst) % state->heapSpan), pe);
  else
    std::snprintf(text, sizeof(text), "0x%" PRIxPTR, number);
  return text;
}

/// " (argument 'sig' + 64 bytes)" when a kernel's pointer argument begins at or before the word, in
/// the same heap or at the same place of another PE's.
static std::string describeArgument(const Launch &launch, const DeviceState *state,
                                    const void *address) {
  auto word = reinterpret_cast<uintptr_t>(address);
  int32_t owner = ownerOf(state, word);
  if (owner < 0 || !launch.request.args)
    return {};
  uint64_t offset = (word - state->heapFirst) % state->heapSpan, best = UINT64_MAX;
  std::string name;
  for (const KernelArgument &argument : launch.kernel.metadata().arguments) {
    if (argument.type != ElementType::Pointer || argument.name.empty())
      continue;
    uint64_t value;
    std::memcpy(&value, launch.request.args + argument.offset, sizeof(value));
    if (ownerOf(state, value) < 0)
      continue;
    uint64_t begin = (value - state->heapFirst) % state->heapSpan;
    if (begin > offset || offset - begin >= best)
      continue;
    best = offset - begin;
    name = argument.name;
  }
  return name.empty() ? name : " (argument '" + name + "' + " + std::to_string(best) + " bytes)";
}

std::string describeWait(const Slot &slot, const WaitRequest *request) {
  if (!request)
    return {};
  const DeviceState *state = stateOf(*slot.launch);
  auto kind = static_cast<WaitKind>(request->kind);
  if (kind == WaitKind::Sides)
    return "waits until the other vector core of its block (sub_vec_id " +
           std::to_string(1 - slot.context.side) + ") is there too";
  if (kind == WaitKind::Cores)
    return "waits in a barrier until " +
           std::string(slot.launch->sides > 1 ? "both vector cores of " : "") + "all " +
           std::to_string(slot.launch->blocks) +
           " blocks of the launch are there: " + std::to_string(request->seen) + " of " +
           std::to_string(request->wanted) + " arrivals";
  if (kind == WaitKind::Engine)
    return "waits for a copy engine";
  if (kind == WaitKind::Remote)
    return request->seen < 0 ? "waits until what it has sent to other hosts is there"
                             : "waits for PE " + std::to_string(request->seen) +
                                   ", which is on another host, to answer";
  std::string what =
      kind == WaitKind::Barrier
          ? "waits in a barrier of team " + std::to_string(request->team) + " until the flag at "
          : "waits until the signal word at ";
  // The flag of a barrier is the library's own.
  std::string argument = kind == WaitKind::Barrier
                             ? std::string()
                             : describeArgument(*slot.launch, state, request->word);
  return what + describeAddress(state, request->word) + argument + " " +
         compareText(request->compare) + " " + std::to_string(request->wanted) + ", but it is " +
         std::to_string(request->seen);
}

static bool isInner(uint32_t kind) {
  return kind == static_cast<uint32_t>(WaitKind::Sides) ||
         kind == static_cast<uint32_t>(WaitKind::Cores);
}

bool isInnerWait(const Slot &slot) { return slot.waitRequest && isInner(slot.waitRequest->kind); }

bool endIfJobFailed(const Slot &slot, const WaitRequest *request) {
  DeviceState *state = stateOf(*slot.launch);
  if (!state)
    return false;
  uint32_t failure = __atomic_load_n(&state->failure, __ATOMIC_ACQUIRE);
  if (failure == 0)
    return false;
  std::string why = "PE " + std::to_string(state->failedPe) + " has failed";
  if (state->failureText)
    why = state->failureText;
  std::string what = request ? describeWait(slot, request) : "loops";
  slot.launch->fail(static_cast<piton_status_t>(failure),
                    describePlace(slot, slot.waitsAt) + " " + what + "; " + why);
  return true;
}

namespace {

PeBoard *ownBoard(const DeviceState *state) {
  return state && state->boards ? state->boards[state->myPe] : nullptr;
}

/// The launch whose wait is on the board; others leave it alone.
std::atomic<const Launch *> shown{nullptr};

void writeRecord(const DeviceState &state, PeBoard &board, const Slot &slot, bool first) {
  WaitRequest request = {};
  if (slot.waitRequest)
    request = *slot.waitRequest;
  else
    request.kind = static_cast<uint32_t>(WaitKind::Loop);
  auto word = reinterpret_cast<uintptr_t>(request.word);
  int32_t owner = ownerOf(&state, word);
  std::string where = describePlace(slot, slot.waitsAt);
  if (request.kind == static_cast<uint32_t>(WaitKind::Signal))
    where += describeArgument(*slot.launch, &state, request.word);

  WaitRecord &record = board.kernelWait;
  __atomic_fetch_add(&record.sequence, 1, __ATOMIC_ACQ_REL);
  auto set = [](auto &field, auto value) {
    __atomic_store_n(&field, static_cast<std::decay_t<decltype(field)>>(value), __ATOMIC_RELAXED);
  };
  set(record.kind, request.kind);
  set(record.pe, owner);
  set(record.team, request.team);
  set(record.offset, owner >= 0 ? (word - state.heapFirst) % state.heapSpan : 0);
  set(record.seen, request.seen);
  set(record.wanted, request.wanted);
  set(record.compare, request.compare);
  set(record.wordBytes, 0u);
  set(record.wordType, WordType::Signed);
  if (first)
    set(record.sinceNs, monotonicNanoseconds());
  size_t length = std::min(where.size(), sizeof(record.where) - 1);
  for (size_t i = 0; i <= length; ++i)
    set(record.where[i], i < length ? where[i] : '\0');
  __atomic_fetch_add(&record.sequence, 1, __ATOMIC_ACQ_REL);
}

} // namespace

RunningOnBoard::RunningOnBoard(const Launch &launch) : board(ownBoard(stateOf(launch))) {
  if (!board)
    return;
  __atomic_fetch_add(&board->kernels, 1, __ATOMIC_RELAXED);
  const std::string &name = launch.kernel.metadata().name;
  size_t length = std::min(name.size(), sizeof(board->kernel) - 1);
  for (size_t i = 0; i <= length; ++i)
    __atomic_store_n(&board->kernel[i], i < length ? name[i] : '\0', __ATOMIC_RELAXED);
}

RunningOnBoard::~RunningOnBoard() {
  if (board)
    __atomic_fetch_sub(&board->kernels, 1, __ATOMIC_RELAXED);
}

void publishWait(Launch &launch, const Slot &slot) {
  DeviceState *state = stateOf(launch);
  PeBoard *board = ownBoard(state);
  if (!board || launch.publishing.test_and_set(std::memory_order_acquire))
    return; // another idle worker is at it
  const Launch *nobody = nullptr;
  // What this worker knows does not replace a better reason of another one.
  if (shown.compare_exchange_strong(nobody, &launch) || nobody == &launch)
    if (!launch.waitPublished || !isInnerWait(slot) || isInner(board->kernelWait.kind))
      writeRecord(*state, *board, slot, !launch.waitPublished);
  if (!launch.waitPublished)
    __atomic_fetch_add(&board->kernelsWaiting, 1, __ATOMIC_RELEASE);
  launch.waitPublished = true;
  launch.publishing.clear(std::memory_order_release);
}

void clearWait(Launch &launch) {
  PeBoard *board = ownBoard(stateOf(launch));
  if (!board)
    return;
  while (launch.publishing.test_and_set(std::memory_order_acquire)) {
  }
  if (launch.waitPublished) {
    __atomic_fetch_sub(&board->kernelsWaiting, 1, __ATOMIC_RELEASE);
    if (shown.load() == &launch) {
      __atomic_store_n(&board->kernelWait.kind, static_cast<uint32_t>(WaitKind::None),
                       __ATOMIC_RELEASE);
      shown.store(nullptr);
    }
  }
  launch.waitPublished = false;
  __atomic_fetch_add(&board->progress, 1, __ATOMIC_RELAXED);
  launch.publishing.clear(std::memory_order_release);
}

Doorbell *ownDoorbell(const Launch &launch) {
  PeBoard *board = ownBoard(stateOf(launch));
  return board ? &board->doorbell : nullptr;
}

void sleepOnBell(Doorbell &doorbell, uint32_t seen, int64_t nanoseconds) {
  timespec limit = {nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  syscall(SYS_futex, &doorbell.bell, FUTEX_WAIT, seen, &limit, nullptr, 0);
}

} // namespace piton::sim
