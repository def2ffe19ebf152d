// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both sides of the SDMA rings: the host as producer, and the engine.

#include "runtime/transports/sdma/Sdma.h"

#include "runtime/shmem/Report.h"
#include "runtime/transports/mte/Mte.h"

#include <algorithm>

namespace piton::shmem {

namespace {

constexpr uint64_t kRingBytes = uint64_t(kSdmaDepth) * sizeof(SdmaEntry);
constexpr uint64_t kDoorbellStride = 64;

/// Memory: workspace, doorbells, rings; each part at a cache line.
constexpr uint64_t kDoorbellOffset = (sizeof(SdmaWorkspace) + 63) / 64 * 64;
constexpr uint64_t kRingOffset = kDoorbellOffset + kSdmaChannels * kDoorbellStride;
constexpr uint64_t kMemoryBytes = kRingOffset + kSdmaChannels * kRingBytes;

} // namespace

std::unique_ptr<SdmaTransport>
SdmaTransport::create(DeviceState &state, std::function<void(const void *)> written,
                      std::function<void(const std::string &)> failed) {
  std::unique_ptr<SdmaTransport> self(new SdmaTransport(state));
  self->written = std::move(written);
  self->failed = std::move(failed);
  self->memory = mapQueueMemory(kMemoryBytes);
  if (!self->memory) {
    report(ACLSHMEM_SMEM_ERROR, "no memory for the rings of SDMA");
    return nullptr;
  }
  auto *bytes = static_cast<char *>(self->memory);
  self->workspace = reinterpret_cast<SdmaWorkspace *>(bytes);
  for (uint32_t i = 0; i < kSdmaChannels; ++i) {
    SdmaChannel &channel = self->workspace->channels[i];
    channel.entries = reinterpret_cast<uint64_t>(bytes + kRingOffset + i * kRingBytes);
    channel.doorbell = reinterpret_cast<uint64_t>(bytes + kDoorbellOffset + i * kDoorbellStride);
    channel.depth = kSdmaDepth;
  }
  std::string error;
  if (!self->engine.start(
          self->workspace->registers, [raw = self.get()] { return raw->serve(); }, error)) {
    report(ACLSHMEM_SMEM_ERROR, "SDMA: " + error);
    return nullptr;
  }
  state.sdmaWorkspace = reinterpret_cast<uint64_t>(self->workspace);
  return self;
}

SdmaTransport::~SdmaTransport() {
  engine.stop();
  if (state.sdmaWorkspace == reinterpret_cast<uint64_t>(workspace))
    state.sdmaWorkspace = 0;
  unmapQueueMemory(memory, kMemoryBytes);
}

//===-- The engine --------------------------------------------------------------------------===//

bool SdmaTransport::serve() {
  constexpr uint32_t kBatch = 32; // a long queue does not starve the others
  bool worked = false;
  for (SdmaChannel &channel : workspace->channels) {
    uint32_t tail =
        __atomic_load_n(reinterpret_cast<uint32_t *>(channel.doorbell), __ATOMIC_ACQUIRE);
    uint32_t head = channel.head; // only this thread writes it
    for (uint32_t done = 0; head != tail && done < kBatch; ++done) {
      const auto &entry = reinterpret_cast<SdmaEntry *>(channel.entries)[head % channel.depth];
      if (entry.type == kSdmaTypeCopy)
        execute(entry);
      __atomic_store_n(&channel.head, ++head, __ATOMIC_RELEASE);
      worked = true;
    }
  }
  return worked;
}

void SdmaTransport::execute(const SdmaEntry &entry) {
  auto *destination = reinterpret_cast<void *>(entry.destination);
  const auto *source = reinterpret_cast<const void *>(entry.source);
  BadAccess bad;
  if (copyBytes(destination, source, entry.length, bad))
    return written(destination);
  failed(describeBadMemory(bad.write ? "SDMA: the destination of a copy"
                                     : "SDMA: the source of a copy",
                           bad.write ? destination : source, entry.length, bad));
}

//===-- The host ----------------------------------------------------------------------------===//

int SdmaTransport::waitForRoom(SdmaChannel &channel) {
  if (sdmaHasRoom(channel))
    return ACLSHMEM_SUCCESS;
  sdmaRing(channel);
  EngineThread::ring(workspace->registers);
  if (waitForEngine([&] { return sdmaHasRoom(channel); }))
    return ACLSHMEM_SUCCESS;
  return report(ACLSHMEM_TIMEOUT_ERROR, "SDMA does not get on: its ring stays full");
}

int SdmaTransport::copy(const void *source, void *destination, uint64_t bytes) {
  std::lock_guard lock(mutex);
  SdmaChannel &channel = hostChannel();
  const auto *from = static_cast<const char *>(source);
  auto *to = static_cast<char *>(destination);
  // Within one heap the two may overlap: the pieces are copied in the order that memmove has.
  bool backwards = to > from && to < from + bytes;
  uint64_t pieces = (bytes + kSdmaMaxBytes - 1) / kSdmaMaxBytes;
  for (uint64_t i = 0; i < pieces; ++i) {
    uint64_t at = (backwards ? pieces - 1 - i : i) * kSdmaMaxBytes;
    if (int code = waitForRoom(channel))
      return code;
    sdmaFill(channel, from + at, to + at, std::min(kSdmaMaxBytes, bytes - at));
  }
  sdmaRing(channel);
  EngineThread::ring(workspace->registers);
  return ACLSHMEM_SUCCESS;
}

int SdmaTransport::put(const Transfer &transfer) {
  return copy(transfer.local, transfer.remote, transfer.bytes);
}

int SdmaTransport::get(const Transfer &transfer) {
  return copy(transfer.remote, transfer.local, transfer.bytes);
}

/// The engine knows no atomics: the signal is a store behind the copies.
int SdmaTransport::signal(const SignalRequest &request) {
  if (int code = quiet(request.pe))
    return code;
  applySignal(request.remote, request.value, request.op);
  return ACLSHMEM_SUCCESS;
}

/// One ring, in order.
int SdmaTransport::fence(int) { return ACLSHMEM_SUCCESS; }

int SdmaTransport::quiet(int) {
  std::lock_guard lock(mutex);
  return drain();
}

/// Copies a new flag value behind the work and waits for it.
int SdmaTransport::drain() {
  SdmaChannel &channel = hostChannel();
  if (__atomic_load_n(&channel.head, __ATOMIC_ACQUIRE) == channel.tail)
    return ACLSHMEM_SUCCESS;
  if (int code = waitForRoom(channel))
    return code;
  uint64_t *seen = &workspace->hostFlags.seen, *next = &workspace->hostFlags.next;
  uint64_t value = *next + 1;
  __atomic_store_n(next, value, __ATOMIC_RELAXED);
  sdmaFill(channel, next, seen, sizeof(*next));
  sdmaRing(channel);
  EngineThread::ring(workspace->registers);
  if (waitForEngine([&] { return __atomic_load_n(seen, __ATOMIC_ACQUIRE) == value; }))
    return ACLSHMEM_SUCCESS;
  return report(ACLSHMEM_TIMEOUT_ERROR, "SDMA does not get on: a copy did not end");
}

} // namespace piton::shmem
