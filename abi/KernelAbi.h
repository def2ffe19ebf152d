// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a compiled kernel and the machine that runs it agree on: how a block is
// entered, where its arguments lie, and which services it may call. Both the
// code generator and the simulator include this file; the layouts below are
// read by generated code, so a change needs a new kKernelAbiVersion.
#ifndef PITON_ABI_KERNELABI_H
#define PITON_ABI_KERNELABI_H

#include <cstddef>
#include <cstdint>

namespace piton {

/// Part of the image header; images of another version are refused.
inline constexpr uint32_t kKernelAbiVersion = 4;

struct BlockContext;
struct RemoteRequest;

/// Element types as they appear in image metadata, print requests and GEMM
/// requests. Values are stable.
enum class ElementType : uint32_t {
  I1 = 0,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F16,
  BF16,
  F32,
  F64,
  F8E4M3FN,
  F8E5M2,
  F8E4M3FNUZ,
  F8E5M2FNUZ,
  Pointer
};

/// C[M,N] += A[M,K] * B[K,N] on tiles in any memory; strides are in elements.
/// A and B have one element type; C is F32 for floats (F64 for F64), I32 for I8.
struct GemmRequest {
  const void *a;
  const void *b;
  void *c;
  int64_t m, n, k;
  int64_t aRow, aCol; ///< address of A[i,p] = a + i*aRow + p*aCol
  int64_t bRow, bCol; ///< address of B[p,j] = b + p*bRow + j*bCol
  int64_t cRow;       ///< C rows are contiguous
  uint32_t type;      ///< ElementType of A and B
  uint32_t flags;     ///< kGemmZeroInit: C is overwritten instead of accumulated
};
inline constexpr uint32_t kGemmZeroInit = 1;

/// One operand of a device print: `count` contiguous elements.
struct PrintOperand {
  const void *data;
  uint64_t count;
  uint32_t type; ///< ElementType, signedness included
  uint32_t rank;
  const int64_t *shape;
};

/// What a block waits for: for the report when it never comes, and for sleeping until it may have.
/// Lives on the block's stack while it waits.
struct WaitRequest {
  const void *word;
  int64_t seen; ///< the last value read
  int64_t wanted;
  uint32_t kind;   ///< WaitKind of abi/DeviceState.h
  int32_t compare; ///< CompareOp of abi/DeviceState.h: seen CMP wanted ends the wait
  int32_t team;    ///< of a barrier, else -1
  uint32_t known;  ///< 0 at first; set by the machine
};

/// What device code finds wrong with a call; the values of BlockServices::deviceError.
enum class DeviceError : uint32_t {
  PeOutOfRange = 1, ///< value: the PE; a: number of PEs
  NotSymmetric,     ///< value: the address; a: start of this PE's heap; b: its bytes
  BadTeam,          ///< value: the team
  BadSignalOp,      ///< value: the operation
  BadCompare,       ///< value: the comparison
  Unreachable,      ///< value: the PE
  TransferFailed,   ///< value: the PE; a: status of the completion
  OutsideHeap,      ///< value: offset in the heap of a PE; a: bytes from there on; b: heap's bytes
};

/// Services of the machine, reached through the block context, never by symbol.
struct BlockServices {
  uint32_t abiVersion;
  uint32_t reserved;
  /// Lets other blocks of this worker run; called on the back edge of every
  /// waiting loop. Returns after at least one scheduling round.
  void (*yield)(BlockContext *);
  /// tl.device_print. `prefix` is NUL terminated.
  void (*print)(BlockContext *, const char *prefix, uint32_t hex, const PrintOperand *operands,
                uint32_t count);
  /// A failed tl.device_assert: records the message and ends the block. Does not return.
  void (*assertFail)(BlockContext *, const char *message, const char *file, uint32_t line);
  /// Tile product, the fastest form for this CPU. Scratch comes from the worker.
  void (*gemm)(BlockContext *, const GemmRequest *);
  /// The block lock of sync_block_lock/unlock. `word` lies in the launch's lock buffer.
  void (*lock)(BlockContext *, uint64_t *word);
  void (*unlock)(BlockContext *, uint64_t *word);
  /// As yield, and says what is waited for; called while `request` does not hold.
  void (*wait)(BlockContext *, const WaitRequest *request);
  /// Wakes every process and thread that sleeps on this futex word.
  void (*wake)(BlockContext *, uint32_t *word);
  /// A wrong call of a device function: ends the launch with an error at the kernel's line. Does
  /// not return.
  void (*deviceError)(BlockContext *, uint32_t error, int64_t value, int64_t a, int64_t b);
  /// Hands a request for a PE of another host to the network engine (abi/RemoteEngine.h); returns
  /// when it is started, or done if it says so. Ends the block if it fails.
  void (*remote)(BlockContext *, RemoteRequest *request);
};

/// One running block. Its non-temporal stores are ordered by the machine when it has ended. The
/// first fields are read by generated code at fixed offsets.
struct BlockContext {
  const BlockServices *services; // 0
  uint32_t grid[3];              // 8: num_programs x, y, z
  uint32_t pid[3];               // 20: program_id x, y, z
  uint8_t *arena;                // 32: 64-byte aligned, KernelMetadata::arenaBytes long
  uint8_t *lockBuffer;           // 40: lockWords words, zero at the start of a launch; or null
  uint8_t *workspace;            // 48: this block's own, contents undefined at its start; or null
  void *machine;                 // 56: private to the simulator
  uint64_t streamBytes;          // 64: a launch that moves more should store past the caches
  uint64_t *coreBarrier;         // 72: arrivals at meetings of all blocks, zero at a launch's start
  uint8_t *shared;               // 80: kernels of two sides: what both sides of a block see, zero
                                 // at its start, KernelMetadata::sharedBytes long; else null
  uint32_t side, sides;          // 88: the vector core that this is, 0 or 1, and their number: 2 in
                                 // kernels whose sides run at the same time, else 1
};
static_assert(offsetof(BlockContext, grid) == 8 && offsetof(BlockContext, pid) == 20 &&
              offsetof(BlockContext, arena) == 32 && offsetof(BlockContext, lockBuffer) == 40 &&
              offsetof(BlockContext, workspace) == 48 && offsetof(BlockContext, machine) == 56 &&
              offsetof(BlockContext, streamBytes) == 64 &&
              offsetof(BlockContext, coreBarrier) == 72 && offsetof(BlockContext, shared) == 80 &&
              offsetof(BlockContext, side) == 88 && offsetof(BlockContext, sides) == 92);

/// Entry of an image: runs one block. `args` is the packed user argument block:
/// arguments in order, each aligned to its slot size; pointers and 64-bit scalars
/// take 8 bytes, all others 4 (i1..i16 zero- or sign-extended by the launcher,
/// f16 and bf16 as f32, as on the device).
using KernelEntry = void (*)(const uint8_t *args, BlockContext *context);

/// Symbol of the entry in the image: this prefix, then the kernel's name. The image is loaded with
/// RTLD_NOW | RTLD_LOCAL, so libm.so.6 and libmvec.so.1 must be among its DT_NEEDED if it uses
/// them.
inline constexpr char kEntryPrefix[] = "piton_entry_";

} // namespace piton

#endif // PITON_ABI_KERNELABI_H
