// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The slow part of waiting, and what is said when it does not end.

#include "runtime/shmem/Wait.h"

#include "runtime/Executor.h"
#include "runtime/Threads.h"
#include "runtime/shmem/Report.h"
#include "runtime/shmem/World.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <linux/futex.h>
#include <memory>
#include <sched.h>
#include <sys/syscall.h>
#include <type_traits>
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

template <typename T> int64_t valueOf(const void *word, WordType type) {
  T value = __atomic_load_n(static_cast<const T *>(word), __ATOMIC_RELAXED);
  using Extended = std::make_unsigned_t<T>;
  return type == WordType::Signed ? int64_t(value) : static_cast<int64_t>(Extended(value));
}

/// The word, extended as its type says.
int64_t valueOf(const void *word, uint32_t bytes, WordType type) {
  if (!word)
    return 0;
  switch (bytes) {
  case 1:
    return valueOf<int8_t>(word, type);
  case 2:
    return valueOf<int16_t>(word, type);
  case 4:
    return valueOf<int32_t>(word, type);
  default:
    return valueOf<int64_t>(word, type);
  }
}

std::string spell(int64_t value, uint16_t type) {
  switch (static_cast<WordType>(type)) {
  case WordType::Unsigned:
    return std::to_string(static_cast<uint64_t>(value));
  case WordType::Float: {
    char text[32];
    std::snprintf(text, sizeof(text), "%.9g",
                  static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(value))));
    return text;
  }
  default:
    return std::to_string(value);
  }
}

/// Writes the board's record of the host's waits, under the World's waitMutex.
void show(World &world, const PublishedWait *wait) {
  const WaitTarget target = wait ? wait->target : WaitTarget{.kind = WaitKind::None};
  WaitRecord &record = world.board().hostWait;
  __atomic_fetch_add(&record.sequence, 1, __ATOMIC_ACQ_REL);
  auto set = [](auto &field, auto value) {
    __atomic_store_n(&field, static_cast<std::decay_t<decltype(field)>>(value), __ATOMIC_RELAXED);
  };
  set(record.kind, target.kind);
  set(record.pe, target.pe);
  set(record.team, target.team);
  set(record.offset, world.offsetInHeapOf(target.pe, target.word));
  set(record.seen, valueOf(target.word, target.wordBytes, target.type));
  set(record.wanted, target.wanted);
  set(record.sinceNs, wait ? nanoseconds(wait->since) : 0);
  set(record.compare, target.compare);
  set(record.wordBytes, target.pe >= 0 ? target.wordBytes : 0);
  set(record.wordType, target.type);
  size_t length = std::min(std::strlen(target.call), sizeof(record.where) - 1);
  for (size_t i = 0; i <= length; ++i)
    set(record.where[i], i < length ? target.call[i] : '\0');
  __atomic_fetch_add(&record.sequence, 1, __ATOMIC_ACQ_REL);
}

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

PublishedWait::PublishedWait(World &world, const WaitTarget &target)
    : target(target), since(Clock::now()), world(world) {
  std::lock_guard lock(world.waitMutex);
  world.hostWaits.push_back(this);
  if (world.hostWaits.size() == 1)
    show(world, this);
}

PublishedWait::~PublishedWait() {
  std::lock_guard lock(world.waitMutex);
  bool shown = world.hostWaits.front() == this;
  std::erase(world.hostWaits, this);
  if (shown)
    show(world, world.hostWaits.empty() ? nullptr : world.hostWaits.front());
  __atomic_fetch_add(&world.board().progress, 1, __ATOMIC_RELAXED);
}

void wakeAll(uint32_t *word) {
  syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

unsigned spinRounds(int localPes) {
  // Of the host and not of this PE: who is bound to a core of its own sees only that one. About
  // 2 us: two PEs may share a core all the same, and giving it away costs less than that.
  return localPes <= sysconf(_SC_NPROCESSORS_ONLN) ? 100 : 1;
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
  armInterrupts();
  PublishedWait published(world, target);
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
    if (int code = world.checkStream(target.call))
      return code;
    if (interruptEpoch() != epoch) {
      if (target.kind == WaitKind::Barrier) // half way through, as nobody can be in it
        world.failJob("PE " + std::to_string(world.pe()) + " (pid " + std::to_string(getpid()) +
                      " on " + hostName() + ") was interrupted (Ctrl-C) in " + target.call);
      return report(ACLSHMEM_INNER_ERROR, std::string(target.call) + ": interrupted");
    }
    Clock::time_point now = Clock::now();
    if (now - start >= world.callTimeout())
      return report(ACLSHMEM_TIMEOUT_ERROR,
                    std::string(target.call) + ": nothing happened within " +
                        std::to_string(world.callTimeout() / std::chrono::seconds(1)) +
                        " s (control_operation_timeout); " + world.describeWaits());
    sleep = std::min(sleep * 2, kLongestSleep);
  }
}

int World::checkStream(const char *call) const {
  if (!streamsEnd || recordOfThread().works == 0)
    return ACLSHMEM_SUCCESS;
  return report(ACLSHMEM_INNER_ERROR, std::string(call) + ": aclshmem_finalize was called while a "
                                                          "stream was still in this call; "
                                                          "synchronise the stream first");
}

//===-- Standstill --------------------------------------------------------------------------===//

/// The user's setting; false if it is no number of seconds.
static bool readStandstillSeconds(double &seconds) {
  constexpr double longest = 1e6;
  const char *text = std::getenv("PITON_STANDSTILL_SECONDS");
  seconds = 10;
  if (!text || !*text)
    return true;
  char *end = nullptr;
  double given = std::strtod(text, &end);
  if (*end != '\0' || !(std::abs(given) <= longest))
    return false;
  seconds = given;
  return true;
}

bool checkStandstillSetting(std::string &error) {
  double seconds;
  if (readStandstillSeconds(seconds))
    return true;
  error = std::string("PITON_STANDSTILL_SECONDS=") + std::getenv("PITON_STANDSTILL_SECONDS") +
          ": expected a number of seconds, or 0 for never";
  return false;
}

Clock::duration standstillLimit() {
  double seconds;
  readStandstillSeconds(seconds);
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

Standstill::Standstill() : since(Clock::now()), limit(standstillLimit()) {}

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
      continue; // on another host, which has a watcher of its own
    all =
        all && __atomic_load_n(&other->waiting, __ATOMIC_ACQUIRE) != 0 &&
        __atomic_load_n(&other->state, __ATOMIC_ACQUIRE) == static_cast<uint32_t>(PeState::Running);
    progress += __atomic_load_n(&other->progress, __ATOMIC_RELAXED);
  }
  return all;
}

/// Runs on the control thread every now and then. One PE of a host watches for all of it; PE 0, who
/// hears of all hosts, ends the job when nobody anywhere moves.
void World::tick() {
  if (!__atomic_load_n(&state.initialized, __ATOMIC_ACQUIRE))
    return;
  __atomic_store_n(&board().waiting, waitsForOthers() ? 1u : 0u, __ATOMIC_RELEASE);
  if (!watching || isLost())
    return;
  bool still = standstill.confirmed(*this, Clock::now());
  if (still == toldStill)
    return;
  toldStill = still;
  std::vector<int> free;
  client->tellStill(still ? static_cast<uint32_t>(localPes.size()) : 0,
                    still ? describeWaits(free) : std::string());
}

/// Nothing in this process can get the job on. A host that does not wait still may, and so may work
/// that runs beside what waits: kernels, and on streams, when no kernel waits, anything.
bool World::waitsForOthers() {
  return nothingRuns() && !(options.othersAtWork && options.othersAtWork());
}

/// As far as the library knows.
bool World::nothingRuns() {
  if (options.isBlocked && !options.isBlocked())
    return false;
  if (uint32_t kernels = __atomic_load_n(&board().kernelsWaiting, __ATOMIC_ACQUIRE))
    return !options.launches || options.launches() <= kernels;
  std::lock_guard lock(waitMutex);
  return !hostWaits.empty() && !(options.isBusy && options.isBusy());
}

/// A collective call that takes its time. Null while there is no board to show it on.
std::shared_ptr<void> World::showCollective(int team, uint64_t sequence, const char *what) {
  if (!__atomic_load_n(&state.initialized, __ATOMIC_ACQUIRE))
    return nullptr;
  struct Shown {
    WaitTarget target;
    PublishedWait wait;
    Shown(World &world, const WaitTarget &target) : target(target), wait(world, this->target) {}
  };
  return std::make_shared<Shown>(*this, WaitTarget{.kind = WaitKind::Collective,
                                                   .call = what,
                                                   .team = team,
                                                   .wanted = static_cast<int64_t>(sequence)});
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
    get(to.wordBytes, from.wordBytes);
    get(to.wordType, from.wordType);
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

std::string secondsSince(uint64_t then) {
  uint64_t now = nanoseconds(Clock::now());
  char time[32];
  std::snprintf(time, sizeof(time), "%.1f s",
                static_cast<double>(now - std::min(now, then)) * 1e-9);
  return time;
}

} // namespace

/// What a PE of this host waits for: at most one thing on the host and one in kernels.
std::vector<WaitRecord> World::waitsOf(int pe) const {
  std::vector<WaitRecord> out;
  const PeBoard *board = boardOf(pe);
  if (!board)
    return out;
  WaitRecord record = {};
  auto add = [&](const WaitRecord &from) {
    if (copyRecord(from, record) && record.kind != static_cast<uint32_t>(WaitKind::None))
      out.push_back(record);
  };
  if (__atomic_load_n(&board->kernelsWaiting, __ATOMIC_ACQUIRE))
    add(board->kernelWait);
  add(board->hostWait);
  // The record holds the value at the wait's start; the word itself is at hand.
  for (WaitRecord &wait : out)
    if (wait.wordBytes && boardOf(wait.pe) && wait.offset + wait.wordBytes <= deviceHeap.bytes)
      wait.seen =
          valueOf(static_cast<char *>(deviceHeap.bases[static_cast<size_t>(wait.pe)]) + wait.offset,
                  wait.wordBytes, static_cast<WordType>(wait.wordType));
  return out;
}

/// "PLACE for WHAT, for 1.2 s".
std::string World::describe(const WaitRecord &record) const {
  static constexpr const char *kCompare[] = {"==", "!=", ">", ">=", "<", "<="};
  auto number = [](auto value) { return std::to_string(value); };
  std::string out = record.where, address = "heap + " + hex(record.offset);
  if (record.pe >= 0)
    address += " of PE " + number(record.pe);
  else
    address = "a word outside the heaps";
  switch (static_cast<WaitKind>(record.kind)) {
  case WaitKind::Barrier:
    out += " for PE " + number(record.pe) + " to reach barrier " + number(record.wanted) +
           " of team " + number(record.team) + " (its flag, " + address + ", is " +
           number(record.seen) + ")";
    break;
  case WaitKind::Collective:
    out += " for the other PEs of team " + number(record.team) + " to make this call";
    break;
  case WaitKind::Cores:
    out += " for the other blocks of its launch: " + number(record.seen) + " of " +
           number(record.wanted) + " arrivals";
    break;
  case WaitKind::Engine:
    out += " for a copy engine";
    break;
  case WaitKind::Remote:
    out += " for an operation on a PE of another host to end";
    break;
  case WaitKind::Sides:
    out += " for the other vector core of its block";
    break;
  case WaitKind::Loop:
    out += " in a loop that reads memory";
    break;
  default:
    out += " for " + address + ": value seen " + spell(record.seen, record.wordType) + ", wanted " +
           kCompare[static_cast<uint32_t>(record.compare) % 6] + " " +
           spell(record.wanted, record.wordType);
  }
  return out + ", for " + secondsSince(record.sinceNs);
}

/// The PEs of this host that could end a wait of `pe`, whether or not they wait themselves.
std::vector<int> World::whoCouldEnd(int pe, const WaitRecord &record) const {
  auto kind = static_cast<WaitKind>(record.kind);
  if (kind == WaitKind::Barrier)
    return {record.pe};
  std::vector<int> out;
  for (int other = 0; other < peCount(); ++other) {
    if (other == pe || !boardOf(other))
      continue;
    bool arrived = false;
    if (kind == WaitKind::Collective)
      for (const WaitRecord &wait : waitsOf(other))
        arrived |=
            wait.kind == record.kind && wait.team == record.team && wait.wanted == record.wanted;
    if (!arrived)
      out.push_back(other);
  }
  return out;
}

/// Who waits for what on this host; `free` gets those who do not.
std::string World::describeWaits(std::vector<int> &free) const {
  std::string out;
  std::vector<std::pair<int, WaitRecord>> waits;
  for (int pe : localPes) {
    std::vector<WaitRecord> mine = waitsOf(pe);
    if (mine.empty())
      free.push_back(pe);
    for (const WaitRecord &wait : mine)
      waits.emplace_back(pe, wait);
  }
  for (const auto &[pe, wait] : waits) {
    out += (out.empty() ? "PE " : "; PE ") + std::to_string(pe) + " waits in " + describe(wait);
    std::vector<int> able = whoCouldEnd(pe, wait);
    if (able.empty())
      continue;
    std::erase_if(
        able, [&](int other) { return std::find(free.begin(), free.end(), other) == free.end(); });
    out += able.empty() ? ", which only PEs that wait themselves could end"
                        : ", which " + listPes(able) + " could end";
  }
  return out;
}

std::string World::describeWaits() const {
  std::vector<int> free, elsewhere;
  std::string out = describeWaits(free);
  for (int pe = 0; pe < peCount(); ++pe)
    if (!boardOf(pe))
      elsewhere.push_back(pe);
  auto add = [&](const std::vector<int> &pes, const char *one, const char *many) {
    if (!pes.empty())
      out += (out.empty() ? "" : "; ") + listPes(pes) + (pes.size() == 1 ? one : many);
  };
  add(free, " does not wait and could still signal", " do not wait and could still signal");
  add(elsewhere, " is on another host and could still signal",
      " are on other hosts and could still signal");
  return free.empty() && elsewhere.empty() ? out + "; nobody is left who could signal" : out;
}

std::string World::describeLast(int pe) const {
  if (!__atomic_load_n(&state.initialized, __ATOMIC_ACQUIRE) || pe == this->pe() || !boardOf(pe))
    return {};
  std::string out;
  for (const WaitRecord &wait : waitsOf(pe))
    out += "; it was waiting in " + describe(wait);
  const PeBoard &last = *boardOf(pe);
  if (!out.empty() || !__atomic_load_n(&last.kernels, __ATOMIC_RELAXED))
    return out;
  out = "; it was running kernel '";
  for (const char &c : last.kernel)
    if (char letter = __atomic_load_n(&c, __ATOMIC_RELAXED))
      out += letter;
    else
      break;
  return out + "'";
}

} // namespace piton::shmem
