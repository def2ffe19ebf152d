// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The slow part of waiting, and what is said when it does not end.

#include "runtime/shmem/Wait.h"

#include "runtime/Executor.h"
#include "runtime/shmem/Report.h"
#include "runtime/shmem/World.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace piton::shmem {

namespace {

using std::chrono::milliseconds;

constexpr std::chrono::microseconds kYieldTime{500};
constexpr milliseconds kShortestSleep{1}, kLongestSleep{20};

uint64_t nanoseconds(Clock::time_point time) {
  return static_cast<uint64_t>(time.time_since_epoch() / std::chrono::nanoseconds(1));
}

/// Sleeps until the futex at `word` is woken, is not `seen` any more, or the time is over.
void sleepOn(uint32_t *word, uint32_t seen, milliseconds time) {
  timespec limit = {0, static_cast<long>(time.count()) * 1000000};
  syscall(SYS_futex, word, FUTEX_WAIT, seen, &limit, nullptr, 0);
}

int64_t currentValue(const WaitTarget &target) {
  if (!target.word)
    return 0;
  switch (target.wordBytes) {
  case 1:
    return __atomic_load_n(static_cast<const int8_t *>(target.word), __ATOMIC_RELAXED);
  case 2:
    return __atomic_load_n(static_cast<const int16_t *>(target.word), __ATOMIC_RELAXED);
  case 4:
    return __atomic_load_n(static_cast<const int32_t *>(target.word), __ATOMIC_RELAXED);
  default:
    return __atomic_load_n(static_cast<const int64_t *>(target.word), __ATOMIC_RELAXED);
  }
}

/// Shows on this PE's board what it waits for, for as long as the object lives.
class Published {
public:
  Published(World &world, const WaitTarget &target) : world(world), target(target) {
    first = world.hostWaiters.fetch_add(1) == 0;
    if (first)
      write(static_cast<uint32_t>(target.kind));
    world.updateWaiting();
  }
  ~Published() {
    if (first)
      write(static_cast<uint32_t>(WaitKind::None));
    world.hostWaiters.fetch_sub(1);
    __atomic_fetch_add(&world.board().progress, 1, __ATOMIC_RELAXED);
    world.updateWaiting();
  }

private:
  void write(uint32_t kind) {
    WaitRecord &record = world.board().wait;
    __atomic_fetch_add(&record.sequence, 1, __ATOMIC_ACQ_REL);
    auto set = [](auto &field, auto value) {
      __atomic_store_n(&field, static_cast<std::decay_t<decltype(field)>>(value), __ATOMIC_RELAXED);
    };
    set(record.kind, kind);
    set(record.pe, target.pe);
    set(record.team, target.team);
    set(record.offset, world.offsetInHeapOf(target.pe, target.word));
    set(record.seen, currentValue(target));
    set(record.wanted, target.wanted);
    set(record.sinceNs, nanoseconds(Clock::now()));
    set(record.compare, target.compare);
    set(record.waiters, 1u);
    size_t length = std::min(std::strlen(target.call), sizeof(record.where) - 1);
    for (size_t i = 0; i <= length; ++i)
      set(record.where[i], i < length ? target.call[i] : '\0');
    __atomic_fetch_add(&record.sequence, 1, __ATOMIC_ACQ_REL);
  }

  World &world;
  const WaitTarget &target;
  bool first;
};

/// The words a sleeper registers at and sleeps on.
struct Bed {
  uint32_t *word = nullptr, *sleepers = nullptr;
};

Bed bedFor(World &world, const WaitTarget &target) {
  if (target.kind == WaitKind::Barrier) {
    auto *slot = const_cast<uint32_t *>(static_cast<const uint32_t *>(target.word));
    return {slot, slot + 1};
  }
  PeBoard *board = world.boardOf(target.pe);
  return board ? Bed{&board->doorbell.bell, &board->doorbell.sleepers} : Bed{};
}

} // namespace

void wakeAll(uint32_t *word) {
  syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

unsigned spinRounds(int localPes) {
  cpu_set_t cpus;
  int count = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
  return localPes <= count ? 2000 : 1;
}

int waitSlowly(World &world, const WaitTarget &target, ReadyFunction ready, const void *closure) {
  uint64_t epoch = interruptEpoch();
  Clock::time_point start = Clock::now(), yieldEnd = start + kYieldTime;
  for (unsigned round = 1;; ++round) {
    if (ready(closure))
      return ACLSHMEM_SUCCESS;
    if (round % 16 == 0 && (world.isLost() || Clock::now() >= yieldEnd))
      break;
    sched_yield();
  }
  Published published(world, target);
  Bed bed = bedFor(world, target);
  milliseconds sleep = kShortestSleep;
  for (;;) {
    if (bed.word) {
      __atomic_fetch_add(bed.sleepers, 1, __ATOMIC_SEQ_CST);
      uint32_t seen = __atomic_load_n(bed.word, __ATOMIC_SEQ_CST);
      bool done = ready(closure);
      if (!done)
        sleepOn(bed.word, seen, sleep);
      __atomic_fetch_sub(bed.sleepers, 1, __ATOMIC_SEQ_CST);
    } else {
      usleep(1000);
    }
    if (ready(closure))
      return ACLSHMEM_SUCCESS;
    if (int code = world.checkAlive(target.call))
      return code;
    if (interruptEpoch() != epoch)
      return report(ACLSHMEM_INNER_ERROR, std::string(target.call) + ": interrupted");
    Clock::time_point now = Clock::now();
    if (now - start >= world.callTimeout())
      return report(ACLSHMEM_TIMEOUT_ERROR,
                    std::string(target.call) + ": nothing happened within " +
                        std::to_string(world.callTimeout() / std::chrono::seconds(1)) +
                        " s (control_operation_timeout); " + world.describeWaits());
    world.updateWaiting();
    sleep = std::min(sleep * 2, kLongestSleep);
  }
}

//===-- Standstill --------------------------------------------------------------------------===//

Standstill::Standstill() : since(Clock::now()) {
  const char *text = std::getenv("PITON_STANDSTILL_SECONDS");
  limit = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(text && *text ? std::atof(text) : 10.0));
}

bool Standstill::confirmed(const World &world, Clock::time_point now) {
  if (limit <= Clock::duration::zero())
    return false;
  uint64_t sum = 0;
  bool all = world.everybodyWaits(sum);
  if (!all || sum != progress)
    since = now;
  progress = sum;
  return now - since >= limit;
}

bool World::everybodyWaits(uint64_t &progress) const {
  bool all = true;
  for (PeBoard *other : boards) {
    if (!other)
      return false; // on another host: its PE 0 connection and the time limit watch over it
    all =
        all && __atomic_load_n(&other->waiting, __ATOMIC_ACQUIRE) != 0 &&
        __atomic_load_n(&other->state, __ATOMIC_ACQUIRE) == static_cast<uint32_t>(PeState::Running);
    progress += __atomic_load_n(&other->progress, __ATOMIC_RELAXED);
  }
  return all;
}

/// Runs on the control thread every now and then. One PE of the host watches for all.
void World::tick() {
  if (!watching || !standstill.confirmed(*this, Clock::now()) || isLost())
    return;
  failJob("standstill: all PEs wait for each other; " + describeWaits());
}

/// Work that runs beside a waiting host thread may still get the job on.
void World::updateWaiting() {
  bool waits = hostWaiters.load() > 0 && !(options.isBusy && options.isBusy());
  __atomic_store_n(&board().waiting, waits ? 1u : 0u, __ATOMIC_RELEASE);
}

uint64_t World::offsetInHeapOf(int pe, const void *word) const {
  if (pe < 0 || !word || !deviceHeap.base)
    return 0;
  return static_cast<uint64_t>(static_cast<const char *>(word) -
                               static_cast<char *>(deviceHeap.bases[static_cast<size_t>(pe)]));
}

namespace {

/// A consistent copy of a board's record, or false if its PE writes to it all the time.
bool copyRecord(const WaitRecord &from, WaitRecord &to) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    uint32_t before = __atomic_load_n(&from.sequence, __ATOMIC_ACQUIRE);
    auto get = [](auto &out, const auto &field) {
      out = __atomic_load_n(&field, __ATOMIC_RELAXED);
    };
    get(to.kind, from.kind);
    get(to.pe, from.pe);
    get(to.team, from.team);
    get(to.offset, from.offset);
    get(to.seen, from.seen);
    get(to.wanted, from.wanted);
    get(to.sinceNs, from.sinceNs);
    get(to.compare, from.compare);
    get(to.waiters, from.waiters);
    for (size_t i = 0; i < sizeof(to.where); ++i)
      get(to.where[i], from.where[i]);
    to.where[sizeof(to.where) - 1] = '\0';
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (before % 2 == 0 && __atomic_load_n(&from.sequence, __ATOMIC_RELAXED) == before)
      return true;
  }
  return false;
}

std::string hex(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string describe(int pe, const WaitRecord &record) {
  static constexpr const char *kCompare[] = {"==", "!=", ">", ">=", "<", "<="};
  std::string out = "PE " + std::to_string(pe);
  if (record.kind == static_cast<uint32_t>(WaitKind::None))
    return out + " does not wait";
  out += " waits in " + std::string(record.where) + " for ";
  uint64_t now = nanoseconds(Clock::now());
  if (record.kind == static_cast<uint32_t>(WaitKind::Barrier))
    out += "PE " + std::to_string(record.pe) + " to reach barrier " +
           std::to_string(record.wanted) + " of team " + std::to_string(record.team) +
           ", which is at " + std::to_string(record.seen);
  else
    out += "heap + " + hex(record.offset) + " of PE " + std::to_string(record.pe) +
           ": value seen " + std::to_string(record.seen) + ", wanted " +
           kCompare[static_cast<uint32_t>(record.compare) % 6] + " " +
           std::to_string(record.wanted);
  char time[32];
  std::snprintf(time, sizeof(time), ", for %.1f s",
                static_cast<double>(now - std::min(now, record.sinceNs)) * 1e-9);
  return out + time;
}

} // namespace

std::string World::describeWaits() const {
  std::string out;
  std::vector<int> free;
  for (int pe = 0; pe < peCount(); ++pe) {
    PeBoard *other = boards[static_cast<size_t>(pe)];
    if (!other)
      continue;
    WaitRecord record = {};
    bool copied = copyRecord(other->wait, record);
    if (!copied || record.kind == static_cast<uint32_t>(WaitKind::None)) {
      free.push_back(pe);
      continue;
    }
    // The record holds the value at the wait's start; the word itself is at hand.
    if (const char *word = wordAt(record.pe, record.offset);
        word && record.kind == static_cast<uint32_t>(WaitKind::Barrier))
      record.seen = __atomic_load_n(reinterpret_cast<const int32_t *>(word), __ATOMIC_RELAXED);
    out += (out.empty() ? "" : "; ") + describe(pe, record);
  }
  if (!free.empty())
    out += (out.empty() ? "" : "; ") + listPes(free) +
           (free.size() == 1 ? " does not wait and could still signal"
                             : " do not wait and could still signal");
  else
    out += "; nobody is left who could signal";
  return out;
}

const char *World::wordAt(int pe, uint64_t offset) const {
  if (pe < 0 || pe >= peCount() || !boards[static_cast<size_t>(pe)] ||
      offset + 8 > deviceHeap.bytes)
    return nullptr;
  return static_cast<char *>(deviceHeap.bases[static_cast<size_t>(pe)]) + offset;
}

} // namespace piton::shmem
