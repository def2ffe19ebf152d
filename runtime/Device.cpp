// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device memory and the list of streams.

#include "runtime/Device.h"

#include <algorithm>
#include <string>

namespace piton {
namespace {

uint64_t roundedSize(uint64_t bytes) {
  return (bytes + GlobalMemory::kGrain - 1) & ~(GlobalMemory::kGrain - 1);
}

} // namespace

Device::Device(int index, const HardwareModel &model, Executor &executor)
    : index(index), model(model), executor(executor), memory(model.memoryCapacity()) {
  streams.push_back(std::make_shared<Stream>(*this));
}

void *Device::tryAllocate(uint64_t bytes, const char *&why) {
  if (bytes > memory.capacity || roundedSize(bytes) > memory.capacity - usedBytes()) {
    why = "the device's memory is full";
    return nullptr;
  }
  void *block = memory.allocate(bytes, why);
  if (!block)
    return nullptr;
  uint64_t size = roundedSize(bytes), now = usedBytes() + size;
  used.store(now, std::memory_order_relaxed);
  statistics.peakUsed = std::max(statistics.peakUsed, now);
  statistics.peakBlocks = std::max(statistics.peakBlocks, ++statistics.blocks);
  statistics.peakReserved = std::max(statistics.peakReserved, memory.residentBytes());
  ++statistics.allocations;
  statistics.allocatedBytes += size;
  return block;
}

piton_status_t Device::allocate(uint64_t bytes, void **out) {
  *out = nullptr;
  if (bytes == 0)
    return PITON_OK;
  const char *why = nullptr;
  std::vector<Deferred> waiting;
  {
    std::lock_guard<std::mutex> guard(memoryMutex);
    releaseDeferred();
    *out = tryAllocate(bytes, why);
    if (*out)
      return PITON_OK;
    waiting = deferred;
    ++(waiting.empty() ? statistics.refusals : statistics.retries);
  }
  // Memory that was freed and that running work may still use: worth the wait.
  if (!waiting.empty()) {
    for (const Deferred &block : waiting)
      for (const auto &[stream, ticket] : block.users)
        if (piton_status_t status = stream->waitFor(ticket))
          return status;
    std::lock_guard<std::mutex> guard(memoryMutex);
    releaseDeferred();
    *out = tryAllocate(bytes, why);
    if (*out)
      return PITON_OK;
    ++statistics.refusals;
  }
  return fail(PITON_ERROR_OUT_OF_MEMORY,
              "device " + std::to_string(index) + " (" + model.name + "): cannot allocate " +
                  std::to_string(bytes) + " bytes, " + why + "; " + std::to_string(usedBytes()) +
                  " of " + std::to_string(memory.capacity) + " bytes are in use");
}

void Device::release(void *pointer, uint64_t bytes) {
  memory.release(pointer);
  used.store(usedBytes() - bytes, std::memory_order_relaxed);
  --statistics.blocks;
  ++statistics.frees;
  statistics.freedBytes += bytes;
}

void Device::releaseDeferred() {
  auto usersDone = [](const Deferred &d) {
    return std::all_of(d.users.begin(), d.users.end(),
                       [](const auto &user) { return user.first->done(user.second); });
  };
  for (size_t i = 0; i < deferred.size();) {
    if (!usersDone(deferred[i])) {
      ++i;
      continue;
    }
    release(deferred[i].pointer, deferred[i].bytes);
    deferred[i] = std::move(deferred.back());
    deferred.pop_back();
  }
}

bool Device::free(void *pointer) {
  Deferred freed{pointer, 0, {}};
  if (workInFlight.load(std::memory_order_acquire) != 0)
    for (const std::shared_ptr<Stream> &stream : streamList()) {
      uint64_t ticket = stream->lastTicket();
      if (!stream->done(ticket))
        freed.users.emplace_back(stream, ticket);
    }
  std::lock_guard<std::mutex> guard(memoryMutex);
  releaseDeferred();
  freed.bytes = memory.sizeOf(pointer);
  auto again = [&](const Deferred &other) { return other.pointer == pointer; };
  if (freed.bytes == 0 || std::any_of(deferred.begin(), deferred.end(), again))
    return false;
  if (freed.users.empty())
    release(pointer, freed.bytes);
  else
    deferred.push_back(std::move(freed));
  return true;
}

MemoryStatistics Device::memoryStatistics() {
  std::lock_guard<std::mutex> guard(memoryMutex);
  releaseDeferred();
  MemoryStatistics out = statistics;
  out.used = usedBytes();
  out.reserved = memory.residentBytes();
  return out;
}

void Device::resetPeaks() {
  std::lock_guard<std::mutex> guard(memoryMutex);
  statistics.peakUsed = usedBytes();
  statistics.peakBlocks = statistics.blocks;
  statistics.peakReserved = memory.residentBytes();
}

void Device::trimMemory() {
  std::lock_guard<std::mutex> guard(memoryMutex);
  releaseDeferred();
  memory.trim();
}

std::vector<std::shared_ptr<Stream>> Device::streamList() {
  std::lock_guard<std::mutex> guard(streamMutex);
  return streams;
}

std::shared_ptr<Stream> Device::createStream() {
  auto stream = std::make_shared<Stream>(*this);
  std::lock_guard<std::mutex> guard(streamMutex);
  streams.push_back(stream);
  return stream;
}

Stream &Device::defaultStream() { return *streams.front(); }

bool Device::hasStream(const Stream *stream) {
  std::lock_guard<std::mutex> guard(streamMutex);
  return std::any_of(streams.begin(), streams.end(),
                     [&](const auto &other) { return other.get() == stream; });
}

piton_status_t Device::destroyStream(Stream &stream) {
  piton_status_t status = stream.synchronize();
  stream.close();
  std::lock_guard<std::mutex> guard(streamMutex);
  auto it = std::find_if(streams.begin(), streams.end(),
                         [&](const auto &other) { return other.get() == &stream; });
  if (it != streams.end())
    streams.erase(it); // its thread, if any, holds the last reference
  return status;
}

piton_status_t Device::synchronize() {
  piton_status_t first = PITON_OK;
  std::string message;
  for (const std::shared_ptr<Stream> &stream : streamList()) {
    piton_status_t status = stream->synchronize();
    if (status == PITON_OK || first != PITON_OK)
      continue;
    first = status;
    message = lastError();
  }
  std::lock_guard<std::mutex> guard(memoryMutex);
  releaseDeferred();
  return first == PITON_OK ? PITON_OK : fail(first, std::move(message));
}

void Device::lockForFork() {
  streamMutex.lock();
  for (const std::shared_ptr<Stream> &stream : streams)
    stream->lockForFork();
  memoryMutex.lock();
}

void Device::unlockInParent() {
  memoryMutex.unlock();
  for (const std::shared_ptr<Stream> &stream : streams)
    stream->unlockAfterFork();
  streamMutex.unlock();
}

void Device::resetInChild() {
  memoryMutex.unlock();
  for (const std::shared_ptr<Stream> &stream : streams)
    stream->resetInChild();
  streamMutex.unlock();
}

} // namespace piton
