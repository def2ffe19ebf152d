// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of a PE (one process of a distributed job) as device code sees it: who am I, where do
// the heaps of the other PEs lie, how are they reached, where are the words that barriers use. It
// lies at one constant address in every process, so a kernel reads it without an argument and an
// image is never patched: `my_pe` is one load. Host code takes it by pointer, so that tests can run
// several PEs as threads of one process.
//
// Written by runtime/shmem; read by device/ (bitcode) and by sim/. Freestanding on purpose. Fields
// marked (atomic) change while others read them: use __atomic builtins with the order given.
#ifndef PITON_ABI_DEVICESTATE_H
#define PITON_ABI_DEVICESTATE_H

#include "abi/RemoteEngine.h"

#include <cstddef>
#include <cstdint>

namespace piton {

//===-- Constants ---------------------------------------------------------------------------===//

/// Where the DeviceState of a process lies. A build setting (cmake
/// -DPITON_DEVICE_STATE_ADDRESS=...) because ThreadSanitizer admits no mapping between
/// 0x020000000000 and the stacks.
#ifndef PITON_DEVICE_STATE_ADDRESS
#define PITON_DEVICE_STATE_ADDRESS 0x17FFBE010000
#endif
inline constexpr uint64_t kDeviceStateAddress = PITON_DEVICE_STATE_ADDRESS;
/// The object table (DeviceMeta) lies this far below the state; both are mapped together.
inline constexpr uint64_t kDeviceMetaBytes = 64 * 1024;
inline constexpr uint64_t kDeviceMetaAddress = kDeviceStateAddress - kDeviceMetaBytes;
/// Room for one state, the stride between the states of several instances.
inline constexpr uint64_t kDeviceStateBytes = 64 * 1024;

inline constexpr int32_t kMaxPes = 16384;
inline constexpr int32_t kMaxTeams = 2048;
inline constexpr int32_t kTeamInvalid = -1;
inline constexpr int32_t kTeamWorld = 0;
inline constexpr uint32_t kMaxVectorCores = 48;               ///< of one NPU
inline constexpr uint64_t kHeapAlignment = uint64_t(1) << 30; ///< stride unit between the heaps
inline constexpr uint64_t kHeapPage = uint64_t(2) << 20;
inline constexpr uint64_t kMaxHeapBytes = uint64_t(40) << 30;
/// Added to every heap for the words below; what the user asked for stays wholly his.
inline constexpr uint64_t kHeapExtraBytes = uint64_t(6) << 20;

/// Synchronisation words never share a cache line: an NPU does not keep one line coherent under
/// writes from several cores. One slot holds one word (and who sleeps on it).
inline constexpr uint64_t kSyncSlotBytes = 64;
inline constexpr uint64_t kSyncSlotsPerTeam = 40;
inline constexpr uint64_t kSyncTeamBytes = kSyncSlotBytes * kSyncSlotsPerTeam; // 2560
inline constexpr uint64_t kSyncPoolBytes = kSyncTeamBytes * kMaxTeams;         // 5 MiB
inline constexpr uint64_t kSyncCounterBytes = kSyncSlotBytes * kMaxTeams;      // 128 KiB
inline constexpr uint64_t kCoreSyncRounds = 6; ///< log2 of kMaxVectorCores, rounded up
inline constexpr uint64_t kCoreSyncPoolBytes = kMaxVectorCores * kCoreSyncRounds * kSyncSlotBytes;
inline constexpr uint64_t kCoreSyncCounterBytes = kMaxVectorCores * kSyncSlotBytes;

/// At most this many vector cores of a PE share the reading of the other PEs' barrier flags.
inline constexpr uint32_t kBarrierReaders = 8;

/// How a peer is reached: bits of DeviceState::transports[pe]. (The user's choice of an engine,
/// ACLSHMEM_DATA_OP_*, is numbered differently.)
enum TransportBit : uint8_t {
  kTransportMte = 1,  ///< load and store through a mapping of the peer's heap
  kTransportRoce = 2, ///< network
  kTransportSdma = 4, ///< asynchronous copy engine
  kTransportUdma = 8, ///< work queues with a doorbell
};

enum SignalOp : int32_t { kSignalSet = 0, kSignalAdd = 1 };

/// What a wait compares with: `word CMP value`.
enum CompareOp : int32_t {
  kCompareEq = 0,
  kCompareNe = 1,
  kCompareGt = 2,
  kCompareGe = 3,
  kCompareLt = 4,
  kCompareLe = 5
};

//===-- Boards: what the PEs of one host know of each other ----------------------------------===//

/// For waiting without burning a core. A word in the heap of PE p is waited for like this:
///   spin a bounded while; yield; then  b = load(bell);  sleepers += 1 (seq_cst);  look at the word
///   again;  futex_wait(&bell, b) with a time limit;  sleepers -= 1.
/// Kernels sleep on their own PE's bell whatever they wait for: whoever advances a barrier flag
/// rings the bells of all PEs that are to see it.
/// Whoever stores to a word in p's heap that might be waited for, does afterwards
///   fence(seq_cst);  if (load(sleepers)) { bell += 1; futex_wake(&bell, all); }
/// A sleeper that was killed leaves `sleepers` too high: that costs wakes, nothing else.
struct Doorbell {
  uint32_t bell;     ///< (atomic) futex word, shared between processes
  uint32_t sleepers; ///< (atomic)
  uint32_t reserved[14];
};
static_assert(sizeof(Doorbell) == 64);

enum class PeState : uint32_t { Absent = 0, Joining, Running, Finalizing, Left, Failed };

enum class WaitKind : uint32_t {
  None = 0,
  Signal,     ///< a word in a heap
  Barrier,    ///< the flag of a team member
  Collective, ///< a collective call that other PEs have not made yet; `wanted` is its number
  Cores,      ///< the other blocks of this launch
  Engine,     ///< a copy engine of this PE
  Loop,       ///< a loop of a kernel that reads memory, which nobody changes
  Remote,     ///< an operation on a PE of another host
  Sides       ///< the other vector core of the block
};

/// How the values of a wait are to be read.
enum class WordType : uint16_t {
  Signed = 0,
  Unsigned,
  Float ///< the bits of a float
};

/// What a PE waits for at the moment; where several of its blocks (or host threads) wait, one of
/// them. One writer at a time. Readers copy it and accept the copy if `sequence` was even and is
/// unchanged.
struct WaitRecord {
  uint32_t sequence; ///< (atomic) odd while the record is being written
  uint32_t kind;     ///< WaitKind
  int32_t pe;        ///< owner of the word: it lies in this PE's heap; -1 for Collective
  int32_t team;      ///< of a barrier, else -1
  uint64_t offset;   ///< of the word in the heap
  int64_t seen;
  int64_t wanted;
  uint64_t sinceNs;   ///< CLOCK_MONOTONIC
  int32_t compare;    ///< CompareOp
  uint16_t wordBytes; ///< of the word; 0: the word itself cannot be looked at, only `seen`
  uint16_t wordType;  ///< WordType of seen and wanted
  char where[200];    ///< NUL-terminated: API call, or kernel and Python line
};
static_assert(sizeof(WaitRecord) == 256);

/// One per PE in memory that all PEs of a host map. A PE writes only its own, the doorbell apart.
struct alignas(64) PeBoard {
  Doorbell doorbell;
  uint32_t state;     ///< (atomic) PeState
  int32_t pid;        ///< in the PE's own pid namespace
  uint64_t progress;  ///< (atomic) counts waits that ended and calls made: a standstill is when no
                      ///< PE's changes
  uint32_t waiting;   ///< (atomic) 1 while everything in this PE waits for other PEs; the PE's
                      ///< service thread looks several times a second
  uint32_t engines;   ///< TransportBit mask that the user asked for
  uint64_t heapBytes; ///< of the user
  uint64_t usedBytes; ///< (atomic) allocated now
  int32_t pe;
  int32_t peCount;
  int32_t localCount;      ///< PEs of this host: boards in this array
  uint32_t kernelsWaiting; ///< (atomic) launches in which every block has waited for a while
  uint32_t reserved[2];
  WaitRecord hostWait;   ///< of the host threads
  WaitRecord kernelWait; ///< of the launches
  char kernel[64];       ///< (atomic bytes) the distributed kernel launched last; NUL-terminated
  uint32_t kernels;      ///< (atomic) distributed launches that run now
  uint32_t reserved2[79];
};
static_assert(sizeof(PeBoard) == 1024 && offsetof(PeBoard, hostWait) == 128 &&
              offsetof(PeBoard, kernelWait) == 384 && offsetof(PeBoard, kernel) == 640);

//===-- The state ---------------------------------------------------------------------------===//

/// Local memory that an engine's call uses on a vector core when the caller names none.
struct BufferConfig {
  int64_t address; ///< in UB
  uint32_t bytes;
  uint32_t syncId; ///< event id for its pipe flags
};
static_assert(sizeof(BufferConfig) == 16);

struct TeamConfig {
  int32_t version;
  int32_t contexts;
  uint64_t uniqueId;
  char padding[48];
};
static_assert(sizeof(TeamConfig) == 64);

/// A team as its members see it.
struct TeamRecord {
  int32_t myPe;   ///< my index in the team
  int32_t start;  ///< PE of the world with index 0
  int32_t stride; ///< between PEs of the world
  int32_t size;
  int32_t index; ///< in DeviceState::teams; the same number on all members
  TeamConfig config;
  int32_t toWorld[kMaxPes];   ///< team index -> PE of the world
  int32_t fromWorld[kMaxPes]; ///< PE of the world -> team index, -1 for non-members
};
static_assert(sizeof(TeamRecord) == 131160 && offsetof(TeamRecord, toWorld) == 88);

inline constexpr uint32_t kProfileBlocks = 64, kProfileFrames = 1024;

/// What a block of the profiled PE has counted (SHMEM_CYCLE_PROF_PE).
struct ProfileBlock {
  int64_t counts[kProfileFrames]; ///< (atomic) ends of a frame
  int64_t cycles[kProfileFrames]; ///< (atomic) ends minus starts
};
/// Of blocks beyond the last nothing is kept.
struct Profile {
  int32_t pe;
  ProfileBlock blocks[kProfileBlocks];
};
static_assert(sizeof(Profile) == 1048584);

/// Entry of the object table at kDeviceMetaAddress; 511 of them and a global one.
struct DeviceMeta {
  uint64_t objectId;
  uint32_t rank;
  uint32_t rankCount;
  uint64_t contextBytes;
  uint64_t symmetricBytes;
  uint64_t queueInfo; ///< address of the UDMA queue table (abi/TransferQueues.h), 0 without UDMA
  uint64_t reserved[11];
};
static_assert(sizeof(DeviceMeta) == 128);

/// All tables are indexed by PE of the world. They are valid while `initialized` is 1.
struct DeviceState {
  int32_t version;
  int32_t myPe;
  int32_t peCount;
  /// Mine, kHeapAlignment-aligned. A symmetric address minus heapBase is the offset that is valid
  /// on every PE.
  void *heapBase;
  void *hostHeapBase; ///< null until the host-side heap is first used
  /// Base of every PE's heap in this process. The heap of PE i lies at heapBase of PE 0 plus i
  /// times the heap size rounded up to kHeapAlignment; for PEs of other hosts the range is reserved
  /// and inaccessible, so a load there faults instead of reading something else. Use the table that
  /// belongs to the transport; today the three hold the same addresses.
  void **p2pHeapBase;
  void **rdmaHeapBase;
  void **sdmaHeapBase;
  void **p2pHostHeapBase;
  void **rdmaHostHeapBase;
  void **sdmaHostHeapBase;
  uint8_t transports[kMaxPes]; ///< TransportBit mask of each peer; my own included
  uint64_t heapBytes;          ///< the user's size plus kHeapExtraBytes
  TeamRecord *teams[kMaxTeams];

  /// Symmetric. Team t has kSyncSlotsPerTeam slots from syncPool + t * kSyncTeamBytes.
  ///   Slot 0: the pull barrier's flag. int32 word 0 = number of the barrier that this PE has
  ///   reached (written only by this PE, release; wraps), word 1 (atomic) = sleepers on word 0: who
  ///   advances the flag does a fence(seq_cst) and wakes the futex at word 0 if word 1 is not 0.
  ///   Slot 1 + r: flag of round r of the barrier between hosts, written by PE (me - 2^r) mod n.
  /// All of them wrap: compare with == count or == count + 1, never with >=.
  uint64_t syncPool;
  /// Symmetric. int32 at + t * kSyncSlotBytes: barriers of team t that this PE has completed. Read
  /// and written by this PE only, before and after the barrier; host and device barriers share it.
  uint64_t syncCounter;
  /// Of this PE only. Slot of core c and round r at + (c * kCoreSyncRounds + r) * kSyncSlotBytes.
  uint64_t coreSyncPool;
  uint64_t coreSyncCounter; ///< of core c at + c * kSyncSlotBytes

  uint8_t initialized; ///< (atomic) all of init is done, and finalize has not begun
  uint8_t created;     ///< the heaps are mapped
  BufferConfig mteConfig;
  BufferConfig sdmaConfig;
  BufferConfig rdmaConfig;
  BufferConfig udmaConfig;
  uint64_t queueInfo;     ///< UDMA queue table (abi/TransferQueues.h), 0 without UDMA
  uint64_t sdmaWorkspace; ///< SDMA channels (abi/TransferQueues.h), 0 without SDMA
  Profile *profile;       ///< cycle counts of the profiled PE, else null
  uint64_t signalAddress; ///< symmetric word of 8 bytes that remote signals are sent from

  // What follows is Piton's own.

  uint32_t failure;  ///< (atomic) piton_status_t once the job has failed: every wait ends with it
  int32_t failedPe;  ///< whose failure that was, -1 if none in particular
  PeBoard **boards;  ///< by PE; null entries for PEs of other hosts
  uint64_t heapSpan; ///< distance between the heaps of consecutive PEs
  /// NUL-terminated reason, null while failure is 0; lives until the next init.
  const char *failureText;
  uint64_t heapFirst; ///< address of PE 0's heap: (a - heapFirst) / heapSpan is the PE of address a
  uint64_t
      cyclesPerTick; ///< of the NPU in one tick of the host's counter, times 2^32; with profile
  const RemoteEngine *remote; ///< to PEs without kTransportMte; null if there are none
};
static_assert(
    offsetof(DeviceState, heapBase) == 16 && offsetof(DeviceState, p2pHeapBase) == 32 &&
    offsetof(DeviceState, p2pHostHeapBase) == 56 && offsetof(DeviceState, transports) == 80 &&
    offsetof(DeviceState, heapBytes) == 16464 && offsetof(DeviceState, teams) == 16472 &&
    offsetof(DeviceState, syncPool) == 32856 && offsetof(DeviceState, coreSyncCounter) == 32880 &&
    offsetof(DeviceState, initialized) == 32888 && offsetof(DeviceState, mteConfig) == 32896 &&
    offsetof(DeviceState, udmaConfig) == 32944 && offsetof(DeviceState, queueInfo) == 32960 &&
    offsetof(DeviceState, signalAddress) == 32984 && offsetof(DeviceState, failure) == 32992);
static_assert(sizeof(DeviceState) <= kDeviceStateBytes);

//===-- Arithmetic used on both sides --------------------------------------------------------===//

/// Address of a synchronisation slot of team `team` relative to a PE's sync pool.
inline constexpr uint64_t syncSlotOffset(int32_t team, uint64_t slot) {
  return static_cast<uint64_t>(team) * kSyncTeamBytes + slot * kSyncSlotBytes;
}

/// PE whose heap `address` lies in, as this process maps the heaps; -1 if none.
inline int32_t heapOwner(const DeviceState &state, uint64_t address) {
  if (!state.heapSpan || address < state.heapFirst)
    return -1;
  uint64_t pe = (address - state.heapFirst) / state.heapSpan;
  return pe < static_cast<uint64_t>(state.peCount) ? static_cast<int32_t>(pe) : -1;
}

/// Who reads whose flag in the pull barrier: vector core v of K = barrierReaders(...) looks at the
/// members v, v + K, v + 2K, ... of the team.
inline constexpr uint32_t barrierReaders(uint32_t teamSize, uint32_t vectorCores) {
  uint32_t readers = teamSize < kBarrierReaders ? teamSize : kBarrierReaders;
  return readers < vectorCores ? readers : vectorCores;
}

/// A flag passes when its PE is in this barrier or already in the next one.
inline constexpr bool barrierPassed(int32_t flag, int32_t count) {
  return flag == count || flag == static_cast<int32_t>(static_cast<uint32_t>(count) + 1);
}

} // namespace piton

#endif // PITON_ABI_DEVICESTATE_H
