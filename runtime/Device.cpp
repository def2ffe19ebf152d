// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device memory and the list of streams.

#include "runtime/Device.h"

#include <algorithm>
#include <cstdlib>

namespace piton {
namespace {

/// Best alignment of global memory on the NPU.
constexpr size_t kMemoryAlign = 512;

uint64_t roundedSize(uint64_t bytes) { return (bytes + kMemoryAlign - 1) & ~(kMemoryAlign - 1); }

} // namespace

Device::Device(int index, const HardwareModel &model, Executor &executor)
    : index(index), model(model), executor(executor) {
  streams.push_back(std::make_shared<Stream>(*this));
}

piton_status_t Device::allocate(uint64_t bytes, void **out) {
  if (bytes == 0) {
    *out = nullptr;
    return PITON_OK;
  }
  uint64_t capacity = model.memoryCapacity();
  std::lock_guard<std::mutex> guard(memoryMutex);
  releaseDeferred();
  auto refuse = [&](const char *why) {
    return fail(PITON_ERROR_OUT_OF_MEMORY,
                "device " + std::to_string(index) + " (" + model.name + "): cannot allocate " +
                    std::to_string(bytes) + " bytes, " + why + "; " + std::to_string(usedBytes()) +
                    " of " + std::to_string(capacity) + " bytes are in use");
  };
  if (bytes > capacity || roundedSize(bytes) > capacity - usedBytes())
    return refuse("the device's memory is full");
  void *pointer = nullptr;
  if (posix_memalign(&pointer, kMemoryAlign, roundedSize(bytes)) != 0)
    return refuse("the host has no more memory");
  allocations.emplace(reinterpret_cast<uintptr_t>(pointer), roundedSize(bytes));
  used.fetch_add(roundedSize(bytes), std::memory_order_relaxed);
  *out = pointer;
  return PITON_OK;
}

void Device::release(void *pointer, uint64_t bytes) {
  std::free(pointer);
  used.fetch_sub(bytes, std::memory_order_relaxed);
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
  for (const std::shared_ptr<Stream> &stream : streamList()) {
    uint64_t ticket = stream->lastTicket();
    if (!stream->done(ticket))
      freed.users.emplace_back(stream, ticket);
  }
  std::lock_guard<std::mutex> guard(memoryMutex);
  releaseDeferred();
  auto it = allocations.find(reinterpret_cast<uintptr_t>(pointer));
  if (it == allocations.end())
    return false;
  freed.bytes = it->second;
  allocations.erase(it);
  if (freed.users.empty())
    release(pointer, freed.bytes);
  else
    deferred.push_back(std::move(freed));
  return true;
}

bool Device::owns(const void *pointer) {
  auto address = reinterpret_cast<uintptr_t>(pointer);
  std::lock_guard<std::mutex> guard(memoryMutex);
  auto next = allocations.upper_bound(address);
  if (next == allocations.begin())
    return false;
  --next;
  return address - next->first < next->second;
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

bool Device::isBusy() {
  for (const std::shared_ptr<Stream> &stream : streamList())
    if (!stream->done(stream->lastTicket()))
      return true;
  return false;
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
