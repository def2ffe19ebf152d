// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How software hands work to the copy engines: the rings in memory, the entries in them and the
// registers that start them. The host library and the device library write them, in the order that
// real hardware needs (entry, flush of its cache lines, doorbell); threads in runtime/transports
// stand in for the engines that read them.
//
// Freestanding. A queue has one producer at a time; (atomic) fields are also written by the engine.
#ifndef PITON_ABI_TRANSFERQUEUES_H
#define PITON_ABI_TRANSFERQUEUES_H

#include "abi/DeviceState.h"

#include <cstddef>
#include <cstdint>

/// Also compiled into kernels, where nothing may stay a call.
#define PITON_QUEUE inline __attribute__((always_inline))

namespace piton {

/// Writes the cache lines of [address, address + bytes) back to memory. Host caches are coherent,
/// so what remains is the order: everything before is visible before anything after.
PITON_QUEUE void flushLines(const void *, uint64_t) { __atomic_thread_fence(__ATOMIC_RELEASE); }

/// Registers of an engine, a cache line of their own. Who stores to a doorbell does afterwards
///   fence(seq_cst);  if (load(sleeping)) { wake += 1; futex_wake(&wake); }
/// Without the last step the engine notices within a few milliseconds.
struct EngineRegisters {
  uint32_t wake;     ///< (atomic) futex word
  uint32_t sleeping; ///< (atomic) 1 while the engine sleeps
  uint32_t reserved[14];
};
static_assert(sizeof(EngineRegisters) == 64);

//===-- SDMA: one ring per core, copies in order ---------------------------------------------===//

inline constexpr uint32_t kSdmaDepth = 2048;
inline constexpr uint64_t kSdmaMaxBytes = uint64_t(1)
                                          << 20; ///< of one entry; longer copies are split
inline constexpr uint32_t kSdmaChannels = kMaxVectorCores + 1;
inline constexpr uint32_t kSdmaHostChannel = kMaxVectorCores; ///< for calls of the host
inline constexpr uint64_t kSdmaFlagBytes = 64;                ///< flag area before the channels

inline constexpr uint8_t kSdmaTypeCopy = 11;
inline constexpr uint8_t kSdmaTypeNotify = 6;

/// Entry of a ring.
struct SdmaEntry {
  uint8_t type;
  uint8_t qos;
  uint8_t credit;
  uint8_t linkType;
  uint32_t taskId;
  uint64_t source;
  uint64_t destination;
  uint64_t length; ///< bytes, at most kSdmaMaxBytes
  uint64_t reserved[4];
};
static_assert(sizeof(SdmaEntry) == 64);

/// A ring. Indices count entries and wrap at 2^32; the slot of index i is i % depth.
struct SdmaChannel {
  uint32_t head;     ///< (atomic) entries that the engine has finished
  uint32_t tail;     ///< entries that have been written; the producer's
  uint64_t entries;  ///< SdmaEntry[depth]
  uint64_t doorbell; ///< uint32 register: the new tail is stored here
  uint32_t depth;
  uint32_t taskId; ///< of the next entry
  uint64_t reserved[4];
};
static_assert(sizeof(SdmaChannel) == 64);

/// Of one channel. quiet() copies a new value of `next` to `seen` behind the work and polls `seen`.
struct SdmaFlags {
  uint64_t seen; ///< (atomic)
  uint64_t next;
  uint64_t lock; ///< (atomic) 1 while a producer writes; more blocks than cores share channels
  uint64_t reserved[5];
};
static_assert(sizeof(SdmaFlags) == kSdmaFlagBytes);

/// At DeviceState::sdmaWorkspace.
struct SdmaWorkspace {
  SdmaFlags hostFlags;
  SdmaChannel channels[kSdmaChannels];
  SdmaFlags coreFlags[kMaxVectorCores];
  EngineRegisters registers;
};
static_assert(offsetof(SdmaWorkspace, channels) == kSdmaFlagBytes);

/// The channel of core (or block) `core` of a kernel.
PITON_QUEUE uint32_t sdmaChannelOf(uint32_t core) { return core % kMaxVectorCores; }

/// Room for one entry more.
PITON_QUEUE bool sdmaHasRoom(const SdmaChannel &channel) {
  return channel.tail - __atomic_load_n(&channel.head, __ATOMIC_ACQUIRE) < channel.depth;
}

/// Writes one copy of at most kSdmaMaxBytes into the ring, which must have room. It starts with the
/// doorbell.
PITON_QUEUE void sdmaFill(SdmaChannel &channel, const void *source, void *destination,
                          uint64_t bytes) {
  SdmaEntry &entry = reinterpret_cast<SdmaEntry *>(channel.entries)[channel.tail % channel.depth];
  entry.type = kSdmaTypeCopy;
  entry.qos = 6;
  entry.credit = 240;
  entry.linkType = 255;
  entry.taskId = channel.taskId++;
  entry.source = reinterpret_cast<uint64_t>(source);
  entry.destination = reinterpret_cast<uint64_t>(destination);
  entry.length = bytes;
  flushLines(&entry, sizeof(entry));
  ++channel.tail;
}

PITON_QUEUE void sdmaRing(const SdmaChannel &channel) {
  __atomic_store_n(reinterpret_cast<uint32_t *>(channel.doorbell), channel.tail, __ATOMIC_RELEASE);
}

//===-- UDMA: a pair of queues per peer, with completions -------------------------------------===//

inline constexpr uint32_t kUdmaBlockBytes = 64;      ///< unit of the send queue
inline constexpr uint32_t kUdmaSendDepth = 8192 * 4; ///< blocks
inline constexpr uint32_t kUdmaCompletionDepth = 32768;
inline constexpr uint32_t kUdmaReserve = 10;    ///< blocks that are kept free
inline constexpr uint32_t kUdmaPollBatch = 100; ///< completions taken when the queue is nearly full

enum class UdmaOpcode : uint8_t {
  Send = 0,
  SendImmediate = 1,
  SendInvalidate = 2,
  Write = 3,
  WriteImmediate = 4,
  WriteNotify = 5,
  Read = 6,
  CompareSwap = 7,
  Swap = 8,
  Store = 9,
  Load = 10,
  FetchAdd = 11,
  WriteReduce = 16,
  Nop = 17
};

inline constexpr uint8_t kUdmaFlags = 0b00100000; ///< a completion is wanted

/// First part of an entry.
struct UdmaEntry {
  UdmaOpcode opcode;
  uint8_t flags;
  uint8_t owner;      ///< flips with every pass through the ring
  uint8_t blocks;     ///< 1, or 2 with an UdmaOperand
  uint32_t transport; ///< the peer
  uint32_t segment;
  uint32_t token;
  uint64_t remoteId[2]; ///< EID of the peer
  uint64_t remote;      ///< address
  uint32_t amount;      ///< operand bytes of atomics
  uint32_t reserved;
};
static_assert(sizeof(UdmaEntry) == 48);

/// Second part: where the data is on this side.
struct UdmaSge {
  uint32_t length;
  uint32_t token;
  uint64_t local;
};
static_assert(sizeof(UdmaSge) == 16);

/// Second block of Store, Swap, CompareSwap, FetchAdd and WriteNotify.
struct UdmaOperand {
  uint64_t value;   ///< to store, add, or write as the notification
  uint64_t compare; ///< CompareSwap
  uint64_t notify;  ///< WriteNotify: address of the word
  uint64_t reserved[5];
};
static_assert(sizeof(UdmaOperand) == kUdmaBlockBytes);

struct UdmaCompletion {
  uint32_t owner; ///< (atomic) 1 in even passes through the ring, 0 in odd ones: then it is valid
  uint8_t status; ///< 0, or one of UdmaStatus
  uint8_t subStatus;
  uint16_t reserved;
  uint32_t blocks; ///< of the entry it completes
  uint32_t reserved2[5];
};
static_assert(sizeof(UdmaCompletion) == 32);

enum UdmaStatus : uint8_t {
  kUdmaOk = 0,
  kUdmaBadOpcode = 1,
  kUdmaBadOwner = 2,
  kUdmaBadLength = 3,
  kUdmaBadAddress = 4 ///< an address that cannot be read or written
};

/// What a doorbell is: none, a register, or a word in memory.
enum class UdmaDoorbellMode : int32_t { Invalid = -1, Hardware = 0, Software = 1 };

struct UdmaWorkQueue {
  uint32_t number;
  uint32_t blockBytes;
  uint64_t buffer; ///< blocks
  uint32_t depth;  ///< in blocks
  uint32_t head;   ///< blocks written
  uint32_t tail;   ///< blocks completed
  UdmaDoorbellMode doorbellMode;
  uint64_t doorbell; ///< uint32 register: the new head is stored here
  uint32_t serviceLevel;
  uint32_t entries;      ///< written so far
  uint64_t atomicResult; ///< where atomics return the old value
  uint64_t reserved;
};
static_assert(sizeof(UdmaWorkQueue) == 64);

struct UdmaCompletionQueue {
  uint32_t number;
  uint32_t entryBytes;
  uint64_t buffer; ///< UdmaCompletion[depth]
  uint32_t depth;
  uint32_t head; ///< the engine's
  uint32_t tail; ///< completions taken
  UdmaDoorbellMode doorbellMode;
  uint64_t doorbell; ///< uint32 word: tail & 0xFFFFFF is stored here
  uint64_t reserved[2];
};
static_assert(sizeof(UdmaCompletionQueue) == 56);

/// At DeviceState::queueInfo and DeviceMeta::queueInfo. Every PE has two queues: index `pe` is for
/// kernels, index `count + pe` for calls of the host. A queue has one producer at a time: cores of
/// a kernel hold `locks[pe]` (0 free, 1 held) while they post or poll.
struct UdmaQueueTable {
  UdmaWorkQueue *send;
  UdmaCompletionQueue *completions;
  uint64_t *locks; ///< (atomic)
  uint32_t count;  ///< of PEs
  uint32_t reserved;
  EngineRegisters *registers;
};

/// The order of a post, for traces.
enum class UdmaStep : uint32_t { Fetch, Slot, Entry, Element, Flush, Doorbell };

/// Work for one entry.
struct UdmaRequest {
  UdmaOpcode opcode;
  int pe;
  uint64_t remote, local;
  uint32_t length;
  UdmaOperand operand; ///< for two-block opcodes
};

PITON_QUEUE bool udmaTakesTwoBlocks(UdmaOpcode opcode) {
  return opcode == UdmaOpcode::WriteNotify ||
         (opcode >= UdmaOpcode::CompareSwap && opcode <= UdmaOpcode::FetchAdd &&
          opcode != UdmaOpcode::Load);
}

/// Takes up to `limit` completions; returns the status of the first failed one, else kUdmaOk.
PITON_QUEUE uint8_t udmaPoll(UdmaWorkQueue &send, UdmaCompletionQueue &queue, uint32_t limit) {
  uint8_t status = kUdmaOk;
  auto *entries = reinterpret_cast<UdmaCompletion *>(queue.buffer);
  uint32_t taken = 0;
  for (; taken < limit && send.tail != send.head; ++taken) {
    UdmaCompletion &entry = entries[queue.tail % queue.depth];
    uint32_t valid = (queue.tail / queue.depth) % 2 == 0 ? 1 : 0;
    if (__atomic_load_n(&entry.owner, __ATOMIC_ACQUIRE) != valid)
      break;
    if (status == kUdmaOk)
      status = entry.status;
    send.tail += entry.blocks;
    ++queue.tail;
  }
  if (taken && queue.doorbellMode == UdmaDoorbellMode::Software)
    __atomic_store_n(reinterpret_cast<uint32_t *>(queue.doorbell), queue.tail & 0xFFFFFF,
                     __ATOMIC_RELEASE);
  return status;
}

/// The queue has too few free blocks for an entry: poll completions first.
PITON_QUEUE bool udmaNearlyFull(const UdmaWorkQueue &send) {
  return send.depth - (send.head - send.tail) < kUdmaReserve;
}

/// Posts one entry to queue `index`, in the order of the hardware: fetch of the queue pair, slot,
/// entry, scatter/gather element, flush, doorbell. The queue must not be nearly full. `step(s,
/// address)` is called after each step s.
template <typename Step>
PITON_QUEUE void udmaPost(const UdmaQueueTable &table, uint32_t index, const UdmaRequest &request,
                          Step step) {
  UdmaWorkQueue &send = table.send[index];
  step(UdmaStep::Fetch, &send);

  uint32_t blocks = udmaTakesTwoBlocks(request.opcode) ? 2 : 1;
  auto *ring = reinterpret_cast<uint8_t *>(send.buffer);
  uint8_t *block = ring + uint64_t(send.head % send.depth) * kUdmaBlockBytes;
  uint8_t *second = ring + uint64_t((send.head + 1) % send.depth) * kUdmaBlockBytes;
  step(UdmaStep::Slot, block);

  auto *entry = reinterpret_cast<UdmaEntry *>(block);
  entry->opcode = request.opcode;
  entry->flags = kUdmaFlags;
  entry->owner = static_cast<uint8_t>((send.head / send.depth) % 2 == 0 ? 1 : 0);
  entry->blocks = static_cast<uint8_t>(blocks);
  entry->transport = static_cast<uint32_t>(request.pe);
  entry->segment = 0;
  entry->token = 0;
  entry->remoteId[0] = static_cast<uint64_t>(request.pe);
  entry->remoteId[1] = 0;
  entry->remote = request.remote;
  entry->amount = blocks == 2 ? request.length : 0;
  step(UdmaStep::Entry, entry);

  auto *element = reinterpret_cast<UdmaSge *>(block + sizeof(UdmaEntry));
  element->length = request.length;
  element->token = 0;
  element->local = request.local;
  if (blocks == 2)
    *reinterpret_cast<UdmaOperand *>(second) = request.operand;
  step(UdmaStep::Element, element);

  flushLines(block, kUdmaBlockBytes);
  if (blocks == 2)
    flushLines(second, kUdmaBlockBytes);
  step(UdmaStep::Flush, block);

  send.head += blocks;
  ++send.entries;
  __atomic_store_n(reinterpret_cast<uint32_t *>(send.doorbell), send.head, __ATOMIC_RELEASE);
  step(UdmaStep::Doorbell, reinterpret_cast<const void *>(send.doorbell));
}

} // namespace piton

#endif // PITON_ABI_TRANSFERQUEUES_H
