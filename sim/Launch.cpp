// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch state: distribution of blocks, program ids, first failure, collected prints.

#include "sim/Launch.h"

#include <algorithm>
#include <cstdio>

namespace piton::sim {

bool BlockRange::takeFront(uint32_t count, uint32_t &begin, uint32_t &end) {
  uint64_t now = word.load(std::memory_order_relaxed);
  for (;;) {
    auto first = static_cast<uint32_t>(now), last = static_cast<uint32_t>(now >> 32);
    if (first >= last)
      return false;
    uint32_t taken = std::min(count, last - first);
    if (word.compare_exchange_weak(now, pack(first + taken, last), std::memory_order_relaxed)) {
      begin = first;
      end = first + taken;
      return true;
    }
  }
}

bool BlockRange::takeRearHalf(uint32_t &begin, uint32_t &end) {
  uint64_t now = word.load(std::memory_order_relaxed);
  for (;;) {
    auto first = static_cast<uint32_t>(now), last = static_cast<uint32_t>(now >> 32);
    if (first >= last)
      return false;
    uint32_t middle = first + (last - first) / 2;
    if (word.compare_exchange_weak(now, pack(first, middle), std::memory_order_relaxed)) {
      begin = middle;
      end = last;
      return true;
    }
  }
}

Launch::Launch(const LaunchRequest &request, const LoadedKernel &kernel)
    : request(request), kernel(kernel),
      blocks(uint64_t(request.grid[0]) * request.grid[1] * request.grid[2]),
      sides(kernel.metadata().sharedBytes ? 2 : 1), startEpoch(request.epoch) {}

uint64_t Launch::sharedStride() const { return (kernel.metadata().sharedBytes + 63) / 64 * 64; }

void Launch::programId(uint64_t block, uint32_t pid[3]) const {
  const uint32_t *grid = request.grid;
  unsigned fast = request.model->xFastest ? 0 : 2, slow = 2 - fast;
  pid[fast] = static_cast<uint32_t>(block % grid[fast]);
  block /= grid[fast];
  pid[1] = static_cast<uint32_t>(block % grid[1]);
  pid[slow] = static_cast<uint32_t>(block / grid[1]);
}

void Launch::nextProgramId(uint32_t pid[3]) const {
  const uint32_t *grid = request.grid;
  unsigned fast = request.model->xFastest ? 0 : 2, slow = 2 - fast;
  if (++pid[fast] < grid[fast])
    return;
  pid[fast] = 0;
  if (++pid[1] < grid[1])
    return;
  pid[1] = 0;
  ++pid[slow];
}

void Launch::fail(piton_status_t newStatus, std::string text) {
  std::lock_guard<std::mutex> guard(mutex);
  if (status == PITON_OK) {
    status = newStatus;
    message = std::move(text);
  }
  failed.store(true, std::memory_order_relaxed);
}

void Launch::interruptedAt(std::string place) {
  std::lock_guard<std::mutex> guard(mutex);
  if (interruptedPlace.empty())
    interruptedPlace = std::move(place);
}

void Launch::addPrint(uint64_t unit, std::string text) {
  std::lock_guard<std::mutex> guard(mutex);
  if (printBytes + text.size() > kMaxPrintBytes) {
    droppedBytes += text.size();
    return;
  }
  printBytes += text.size();
  prints.push_back({unit, std::move(text)});
}

void Launch::flushPrints() {
  if (prints.empty() && droppedBytes == 0)
    return;
  // One record per block, or per side of it.
  std::sort(prints.begin(), prints.end(),
            [](const PrintRecord &a, const PrintRecord &b) { return a.unit < b.unit; });
  std::string all;
  all.reserve(printBytes);
  for (const PrintRecord &record : prints)
    all += record.text;
  // One call, so that launches of other threads do not get in between.
  std::fwrite(all.data(), 1, all.size(), stdout);
  std::fflush(stdout);
  if (droppedBytes)
    std::fprintf(stderr,
                 "piton: kernel '%s': %zu bytes of device_print output dropped, a launch "
                 "keeps at most %zu\n",
                 kernel.metadata().name.c_str(), droppedBytes, kMaxPrintBytes);
}

piton_status_t Launch::finish() {
  flushPrints();
  if (status != PITON_OK)
    return piton::fail(status, std::move(message));
  if (interruptEpoch() == startEpoch)
    return PITON_OK;
  std::string text = interruptedPlace.empty() ? "kernel '" + kernel.metadata().name + "'"
                                              : std::move(interruptedPlace);
  return piton::fail(PITON_ERROR_INTERRUPTED, text + " was interrupted");
}

} // namespace piton::sim
