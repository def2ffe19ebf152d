// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A chunk at a time: each rank copies its part into its slot, then reads those of the others. Small
// chunks and two ranks: everybody reduces everything, one meeting. Otherwise each rank reduces its
// share and takes the rest from the others, two meetings. Two buffers take turns, so a rank that
// has met the others in the next chunk may write over this one.
#include "SharedReduce.h"

#include "Combine.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <immintrin.h>
#include <iterator>
#include <linux/futex.h>
#include <sched.h>
#include <sstream>
#include <string_view>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace piton::torch_device {
namespace {

using Clock = std::chrono::steady_clock;

/// Bytes of a slot. Each meeting may cost a turn of the scheduler where others want the CPUs, so
/// there are few; pages of slots that are never filled do not exist.
constexpr size_t kChunk = 2 << 20;
constexpr size_t kShareFrom = 8 << 10; ///< bytes from which three ranks and more divide the work
constexpr auto kYielding = std::chrono::microseconds(200);
constexpr auto kLook = std::chrono::milliseconds(100); ///< between looks whether a peer lives

/// What a rank reduces in a chunk, for the others to compare.
struct Wish {
  uint64_t count;
  uint32_t element, combine;
};

enum : uint32_t { kActive, kLeft, kFailed };

unsigned usableCpus() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? unsigned(CPU_COUNT(&set)) : 1;
}

const char *nameOf(uint32_t element) {
  static const char *const names[] = {"float32", "float64", "float16", "bfloat16",
                                      "int8",    "uint8",   "int32",   "int64"};
  return element < std::size(names) ? names[element] : "?";
}

const char *operationOf(uint32_t combine) {
  static const char *const names[] = {"SUM", "PRODUCT", "MIN", "MAX", "AVG"};
  return combine < std::size(names) ? names[combine] : "?";
}

std::string textOf(const Wish &wish) {
  return std::to_string(wish.count) + " elements of " + nameOf(wish.element) + " by " +
         operationOf(wish.combine);
}

} // namespace

struct SharedReduce::Header {
  uint64_t token;
  uint32_t size;
};

/// What a rank tells the others, and how many threads of theirs sleep until `posted` changes.
struct alignas(128) SharedReduce::Line {
  std::atomic<uint32_t> sleepers;
  alignas(64) std::atomic<uint32_t> posted;
  std::atomic<uint32_t> state;
  std::atomic<uint32_t> process;
  Wish wish[2];
};

namespace {

constexpr size_t kHeaderBytes = 4096;

/// The address of a group's memory; as text the numbers with blanks between.
struct Address {
  int process = 0, file = 0;
  uint64_t token = 0;
};

size_t memoryBytes(int size) {
  // Two slots a rank and two results.
  return kHeaderBytes + size_t(size) * 4096 + 2 * kChunk * size_t(size + 1);
}

void *mapMemory(int file, int size) {
  void *memory = mmap(nullptr, memoryBytes(size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

struct flock lockOf(int rank, short type) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = rank;
  lock.l_len = 1;
  return lock;
}

} // namespace

SharedReduce::SharedReduce(int rank, int size, int file, void *memory)
    : rank(rank), size(size), file(file), memory(static_cast<uint8_t *>(memory)),
      spins(unsigned(size) <= usableCpus() ? 2000 : 50), sources(static_cast<size_t>(size)) {
  line(rank).process.store(static_cast<uint32_t>(getpid()));
}

std::unique_ptr<SharedReduce> SharedReduce::create(int size, std::string &address) {
  int file = memfd_create("piton-hccl", MFD_CLOEXEC);
  if (file < 0)
    return nullptr;
  Header header = {0, static_cast<uint32_t>(size)};
  struct flock lock = lockOf(0, F_WRLCK);
  void *memory = nullptr;
  if (getrandom(&header.token, sizeof header.token, 0) == sizeof header.token &&
      ftruncate(file, static_cast<off_t>(memoryBytes(size))) == 0 &&
      fcntl(file, F_SETLK, &lock) == 0)
    memory = mapMemory(file, size);
  if (!memory) {
    close(file);
    return nullptr;
  }
  std::memcpy(memory, &header, sizeof header);
  address =
      std::to_string(getpid()) + " " + std::to_string(file) + " " + std::to_string(header.token);
  return std::unique_ptr<SharedReduce>(new SharedReduce(0, size, file, memory));
}

std::unique_ptr<SharedReduce> SharedReduce::join(int rank, int size, const std::string &address) {
  Address from;
  if (!(std::istringstream(address) >> from.process >> from.file >> from.token))
    return nullptr;
  std::string path = "/proc/" + std::to_string(from.process) + "/fd/" + std::to_string(from.file);
  // On another host these numbers may name anything, which must not be touched.
  char name[64] = {};
  if (readlink(path.c_str(), name, sizeof name - 1) < 0 ||
      !std::string_view(name).starts_with("/memfd:piton-hccl"))
    return nullptr;
  int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0)
    return nullptr;
  Header header = {};
  struct flock lock = lockOf(rank, F_WRLCK);
  void *memory = nullptr;
  if (pread(file, &header, sizeof header, 0) == sizeof header && header.token == from.token &&
      header.size == static_cast<uint32_t>(size) && fcntl(file, F_SETLK, &lock) == 0)
    memory = mapMemory(file, size);
  if (!memory) {
    close(file);
    return nullptr;
  }
  return std::unique_ptr<SharedReduce>(new SharedReduce(rank, size, file, memory));
}

SharedReduce::~SharedReduce() {
  leave();
  munmap(memory, memoryBytes(size));
  close(file);
}

SharedReduce::Line &SharedReduce::line(int of) const {
  static_assert(sizeof(Line) <= 4096);
  return *reinterpret_cast<Line *>(memory + kHeaderBytes + size_t(of) * 4096);
}

uint8_t *SharedReduce::slot(int of) const {
  return memory + kHeaderBytes + size_t(size) * 4096 + (2 * size_t(of) + parity) * kChunk;
}

uint8_t *SharedReduce::result() const { return slot(size); }

static void wake(std::atomic<uint32_t> &word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void SharedReduce::post() {
  Line &own = line(rank);
  own.posted.store(++phase); // before the look at `sleepers`, in one order with a sleeper's
  if (own.sleepers.load())
    wake(own.posted);
}

/// Ended processes have no locks: the kernel drops them with the last of the process, also where
/// nobody has waited for it yet.
bool SharedReduce::isLost(int peer) {
  Line &other = line(peer);
  uint32_t state = other.state.load();
  if (state == kActive) {
    if (other.process.load() == static_cast<uint32_t>(getpid()))
      return false; // a lock of this process is no obstacle to it
    struct flock lock = lockOf(peer, F_WRLCK);
    if (fcntl(file, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK)
      return false;
    state = other.state.load(); // it may have left in between, or died without a word
  }
  // What it posted before it went counts.
  if (static_cast<int32_t>(other.posted.load() - phase) >= 0)
    return false;
  failure = "rank " + std::to_string(peer) +
            (state == kLeft     ? " has left the group"
             : state == kFailed ? " has given up after an error of its own"
                                : " has ended");
  return true;
}

bool SharedReduce::sleepFor(Line &peer, int of) {
  auto lastLook = Clock::now();
  for (;;) {
    uint32_t seen = peer.posted.load();
    if (static_cast<int32_t>(seen - phase) >= 0)
      return true;
    timespec limit = {0, std::chrono::nanoseconds(kLook).count()};
    peer.sleepers.fetch_add(1);
    // Sleeps only if `posted` is still what was seen.
    syscall(SYS_futex, &peer.posted, FUTEX_WAIT, seen, &limit, nullptr, 0);
    peer.sleepers.fetch_sub(1);
    auto now = Clock::now();
    if (now - lastLook < kLook / 2 && peer.state.load() == kActive)
      continue;
    lastLook = now;
    for (int other = 0; other < size; ++other)
      if (other != rank && isLost(other))
        return false;
    if (timeout.count() > 0 && now - start > timeout) {
      failure = "rank " + std::to_string(of) + " did not come within " +
                std::to_string(timeout.count()) + " ms, the timeout of the group";
      return false;
    }
  }
}

bool SharedReduce::waitFor(int of) {
  Line &peer = line(of);
  auto here = [&] {
    return static_cast<int32_t>(peer.posted.load(std::memory_order_acquire) - phase) >= 0;
  };
  for (unsigned i = 0; i < spins; ++i) {
    if (here())
      return true;
    _mm_pause();
  }
  for (auto end = Clock::now() + kYielding; Clock::now() < end; sched_yield())
    if (here())
      return true;
  return sleepFor(peer, of);
}

bool SharedReduce::waitForAll() {
  for (int other = 0; other < size; ++other)
    if (other != rank && !waitFor(other))
      return false;
  return true;
}

bool SharedReduce::checkPeers() {
  const Wish &mine = line(rank).wish[parity];
  for (int other = 0; other < size; ++other) {
    const Wish &theirs = line(other).wish[parity];
    if (theirs.count == mine.count && theirs.element == mine.element &&
        theirs.combine == mine.combine)
      continue;
    failure = "rank " + std::to_string(rank) + " reduces " + textOf(mine) + ", rank " +
              std::to_string(other) + " reduces " + textOf(theirs) +
              "; all ranks must call with the same";
    return false;
  }
  return true;
}

bool SharedReduce::runChunk(const Reduction &reduction, uint64_t first, uint64_t count) {
  const size_t width = elementBytes(reduction.element);
  uint8_t *data = static_cast<uint8_t *>(reduction.data) + first * width;
  parity ^= 1;
  std::memcpy(slot(rank), data, count * width);
  line(rank).wish[parity] = {reduction.count, static_cast<uint32_t>(reduction.element),
                             static_cast<uint32_t>(reduction.combine)};
  post();
  if (!waitForAll() || !checkPeers())
    return false;
  const bool share = size > 2 && count * width >= kShareFrom;
  const uint64_t begin = share ? count * uint64_t(rank) / uint64_t(size) : 0;
  const uint64_t end = share ? count * uint64_t(rank + 1) / uint64_t(size) : count;
  for (int other = 0; other < size; ++other)
    sources[static_cast<size_t>(other)] = slot(other) + begin * width;
  combine(reduction.element, reduction.combine, sources, (share ? result() : data) + begin * width,
          end - begin);
  if (!share)
    return true;
  post();
  if (!waitForAll())
    return false;
  std::memcpy(data, result(), count * width);
  return true;
}

std::string SharedReduce::fail(std::string text) {
  line(rank).state.store(kFailed);
  wake(line(rank).posted);
  return text;
}

std::string SharedReduce::run(const Reduction &reduction) {
  if (!failure.empty())
    return "an earlier all_reduce of this group failed: " + failure;
  timeout = reduction.timeout;
  start = Clock::now();
  const uint64_t step = kChunk / elementBytes(reduction.element);
  for (uint64_t first = 0; first < reduction.count; first += step)
    if (!runChunk(reduction, first, std::min(step, reduction.count - first)))
      return fail(failure);
  return "";
}

void SharedReduce::leave() {
  uint32_t active = kActive;
  if (line(rank).state.compare_exchange_strong(active, kLeft))
    wake(line(rank).posted);
}

} // namespace piton::torch_device
