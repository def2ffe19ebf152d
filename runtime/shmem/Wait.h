// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waiting for other PEs: spin a bounded while, give the core away, sleep. Every wait ends: with
// what it waits for, a lost job, Ctrl-C, the time limit, or a standstill in which all PEs wait.
#ifndef PITON_RUNTIME_SHMEM_WAIT_H
#define PITON_RUNTIME_SHMEM_WAIT_H

#include "abi/DeviceState.h"
#include "runtime/Activity.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace piton::shmem {

class World;

/// What is waited for, for sleeping on and for reports.
struct WaitTarget {
  WaitKind kind = WaitKind::Signal;
  const char *call = ""; ///< API spelling
  int pe = -1;           ///< whose heap the word lies in
  int team = -1;         ///< of a barrier
  const void *word = nullptr;
  uint32_t wordBytes = 4;
  WordType type = WordType::Signed;
  int32_t compare = kCompareEq;
  int64_t wanted = 0; ///< extended as `type` says
};

/// Shows on this PE's board what a host thread waits for, for as long as the object lives. Of
/// several threads the one that has waited longest is shown.
class PublishedWait {
public:
  PublishedWait(World &world, const WaitTarget &target);
  ~PublishedWait();
  PublishedWait(const PublishedWait &) = delete;
  PublishedWait &operator=(const PublishedWait &) = delete;

  const WaitTarget &target;
  const std::chrono::steady_clock::time_point since;

private:
  World &world;
  Blocked blocked;
};

/// Returns true when the wait is over.
using ReadyFunction = bool (*)(const void *closure);

/// The part of a wait that costs something; `ready` was false for a while. Returns a code,
/// reported.
int waitSlowly(World &world, const WaitTarget &target, ReadyFunction ready, const void *closure);

/// How often a wait looks before it gives the core away: seldom when PEs share cores.
unsigned spinRounds(int localPes);

/// False, with what is wrong, if PITON_STANDSTILL_SECONDS is set to no number of seconds.
bool checkStandstillSetting(std::string &error);

/// How long a standstill lasts before it counts as one; 0 or less: it never does.
std::chrono::steady_clock::duration standstillLimit();

/// Watches whether all PEs of the job wait and none gets on, for PITON_STANDSTILL_SECONDS (10; 0
/// for never).
class Standstill {
public:
  Standstill();
  /// To be asked every now and then; true when it has lasted long enough.
  bool confirmed(const World &world, std::chrono::steady_clock::time_point now);

private:
  std::chrono::steady_clock::time_point since;
  std::chrono::steady_clock::duration limit;
  uint64_t progress = 0;
};

inline void pauseCpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Waits until ready() is true.
template <typename Ready>
int waitUntil(World &world, unsigned spins, const WaitTarget &target, const Ready &ready) {
  for (unsigned i = 0; i < spins; ++i) {
    if (ready())
      return 0;
    pauseCpu();
  }
  return waitSlowly(
      world, target, [](const void *closure) { return (*static_cast<const Ready *>(closure))(); },
      &ready);
}

/// `word CMP value`; false for an unknown comparison.
template <typename T> bool compareWord(T word, int compare, T value) {
  switch (compare) {
  case kCompareEq:
    return word == value;
  case kCompareNe:
    return word != value;
  case kCompareGt:
    return word > value;
  case kCompareGe:
    return word >= value;
  case kCompareLt:
    return word < value;
  case kCompareLe:
    return word <= value;
  default:
    return false;
  }
}

/// Wakes whoever sleeps on the futex at `word`.
void wakeAll(uint32_t *word);

/// Wakes those who sleep on the board's bell. After a store that they wait for and a full fence.
inline void ringIfAsked(PeBoard *board) {
  if (board && __atomic_load_n(&board->doorbell.sleepers, __ATOMIC_RELAXED)) {
    __atomic_fetch_add(&board->doorbell.bell, 1, __ATOMIC_SEQ_CST);
    wakeAll(&board->doorbell.bell);
  }
}

/// After storing to a word in the heap that `board` belongs to: wakes those who sleep on it.
inline void ringDoorbell(PeBoard *board) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  ringIfAsked(board);
}

} // namespace piton::shmem

#endif // PITON_RUNTIME_SHMEM_WAIT_H
