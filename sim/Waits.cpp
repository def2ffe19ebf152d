// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waits of distributed kernels; see Waits.h. Everything here runs while nothing else can.

#include "sim/Waits.h"

#include "sim/Faults.h"

#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <ctime>

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

/// The state of this PE if the launch's kernel uses it, else null.
DeviceState *stateOf(const Launch &launch) {
  // The launcher let it start, so the state is mapped and filled.
  return launch.kernel.metadata().distributed ? reinterpret_cast<DeviceState *>(kDeviceStateAddress)
                                              : nullptr;
}

/// An address as "heap + offset of PE n", or as a number.
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

} // namespace

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
  if (kind == WaitKind::Cores)
    return "waits in a barrier until all " + std::to_string(slot.launch->blocks) +
           " blocks of the launch are there: " + std::to_string(request->seen) + " of " +
           std::to_string(request->wanted) + " arrivals";
  if (kind == WaitKind::Engine)
    return "waits for a copy engine";
  std::string what =
      kind == WaitKind::Barrier
          ? "waits in a barrier of team " + std::to_string(request->team) + " until the flag at "
          : "waits until the signal word at ";
  return what + describeAddress(state, request->word) +
         describeArgument(*slot.launch, state, request->word) + " " +
         compareText(request->compare) + " " + std::to_string(request->wanted) + ", but it is " +
         std::to_string(request->seen);
}

bool endIfJobFailed(const Slot &slot, const WaitRequest &request) {
  DeviceState *state = stateOf(*slot.launch);
  if (!state)
    return false;
  uint32_t failure = __atomic_load_n(&state->failure, __ATOMIC_ACQUIRE);
  if (failure == 0)
    return false;
  std::string why = "PE " + std::to_string(state->failedPe) + " has failed";
  if (state->failureText)
    why = state->failureText;
  slot.launch->fail(static_cast<piton_status_t>(failure), describePlace(slot, slot.waitsAt) + " " +
                                                              describeWait(slot, &request) + "; " +
                                                              why);
  return true;
}

namespace {

PeBoard *ownBoard(const DeviceState *state) {
  return state && state->boards ? state->boards[state->myPe] : nullptr;
}

void writeRecord(const DeviceState &state, PeBoard &board, const Slot &slot) {
  const WaitRequest &request = *slot.waitRequest;
  WaitRecord &record = board.wait;
  auto word = reinterpret_cast<uintptr_t>(request.word);
  uint32_t sequence = __atomic_load_n(&record.sequence, __ATOMIC_RELAXED);
  __atomic_store_n(&record.sequence, sequence + 1, __ATOMIC_RELEASE);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  record.kind = request.kind;
  record.pe = ownerOf(&state, word);
  record.team = request.team;
  record.offset = record.pe >= 0 ? (word - state.heapFirst) % state.heapSpan : 0;
  record.seen = request.seen;
  record.wanted = request.wanted;
  record.compare = request.compare;
  if (!__atomic_load_n(&board.waiting, __ATOMIC_RELAXED))
    record.sinceNs = monotonicNanoseconds();
  record.waiters = 1;
  std::string where =
      describePlace(slot, slot.waitsAt) + describeArgument(*slot.launch, &state, request.word);
  std::strncpy(record.where, where.c_str(), sizeof(record.where) - 1);
  record.where[sizeof(record.where) - 1] = '\0';
  __atomic_store_n(&record.sequence, sequence + 2, __ATOMIC_RELEASE);
  __atomic_store_n(&board.waiting, 1u, __ATOMIC_RELEASE);
}

} // namespace

void publishWait(Launch &launch, const Slot &slot) {
  DeviceState *state = stateOf(launch);
  PeBoard *board = ownBoard(state);
  if (!board || !slot.waitRequest || launch.publishing.test_and_set(std::memory_order_acquire))
    return; // another idle worker is at it
  writeRecord(*state, *board, slot);
  launch.publishing.clear(std::memory_order_release);
}

void clearWait(const Launch &launch) {
  PeBoard *board = ownBoard(stateOf(launch));
  if (!board)
    return;
  __atomic_store_n(&board->waiting, 0u, __ATOMIC_RELEASE);
  __atomic_fetch_add(&board->progress, 1, __ATOMIC_RELAXED);
}

} // namespace piton::sim
