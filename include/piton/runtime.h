/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Piton's runtime: simulated NPU devices, memory, streams, events, kernels and launches.
 *
 * Rules that hold for every function unless it says otherwise:
 *  - any thread may call it, concurrently with any other call;
 *  - it returns a status; on failure outputs are untouched and piton_last_error() has the reason;
 *  - handles come from a create, load or get function and are valid until the matching destroy or
 *    release; devices live as long as the process;
 *  - device memory is memory of this process, so the host may read and write it directly.
 *
 * Environment: TRITON_ASCEND_ARCH selects the SoC, PITON_DEVICE_COUNT the number of devices (8),
 * PITON_NUM_THREADS (or OMP_NUM_THREADS) the host threads of a launch, PITON_STRICT=1 makes
 * exceeded NPU limits errors, PITON_STANDSTILL_SECONDS sets after how long a launch in which all
 * blocks wait is reported (10; 0 for never). */
#ifndef PITON_RUNTIME_H
#define PITON_RUNTIME_H

#include "piton/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct piton_device piton_device_t;
typedef struct piton_stream piton_stream_t;
typedef struct piton_event piton_event_t;
typedef struct piton_kernel piton_kernel_t;

/* ---- devices ------------------------------------------------------------------------------- */

/** What a device is. Strings live as long as the process. */
typedef struct piton_device_properties {
  const char *name;  /**< SoC, e.g. "Ascend910B3" */
  const char *arch;  /**< ISA of its cores, e.g. "dav-c220" */
  uint32_t ai_cores; /**< AI cores; one cube and two vector cores each on most SoCs */
  uint32_t cube_cores;
  uint32_t vector_cores;
  uint32_t clock_mhz;    /**< 0 if not published */
  uint64_t memory_bytes; /**< global memory */
  uint64_t l2_bytes;     /**< 0 if not published */
  uint64_t ub_bytes;     /**< unified buffer of a vector core, as usable by kernels */
  uint64_t l1_bytes;
  uint64_t l0a_bytes;
  uint64_t l0b_bytes;
  uint64_t l0c_bytes;
  uint32_t max_blocks; /**< largest grid of a launch */
  uint32_t is_a5;      /**< 1 for the 950 generation */
} piton_device_properties_t;

/** Number of devices. Fails with PITON_ERROR_INVALID_ARGUMENT if TRITON_ASCEND_ARCH or
 * PITON_DEVICE_COUNT is wrong; the first call of any function here fixes both. */
PITON_API piton_status_t piton_device_count(int *out_count);

/** Device `index`, counted from 0. */
PITON_API piton_status_t piton_device_get(int index, piton_device_t **out_device);

/** Index of a device. Never fails. */
PITON_API int piton_device_index(const piton_device_t *device);

PITON_API piton_status_t piton_device_properties(const piton_device_t *device,
                                                 piton_device_properties_t *out_properties);

/** Bytes that can still be allocated, and the device's capacity. */
PITON_API piton_status_t piton_device_memory_info(const piton_device_t *device, uint64_t *out_free,
                                                  uint64_t *out_total);

/** Blocks until all work submitted to the device's streams so far is done. Returns, and clears, the
 * first error of that work; PITON_ERROR_INTERRUPTED if Ctrl-C ended the wait. */
PITON_API piton_status_t piton_device_synchronize(piton_device_t *device);

/* ---- the calling thread's device and streams ------------------------------------------------ */

/** Index of the device that this thread uses where none is named; 0 at first. Never fails. */
PITON_API int piton_device_current(void);

/** Makes device `index` this thread's current one. */
PITON_API piton_status_t piton_device_set_current(int index);

/** This thread's current stream of a device: the one last set, else the device's default. */
PITON_API piton_status_t piton_stream_current(int device, piton_stream_t **out_stream);

/** Makes `stream` this thread's current one of its device. It must not be destroyed while it is. */
PITON_API piton_status_t piton_stream_set_current(piton_stream_t *stream);

/** Blocks until this thread's current stream of a device has no work, for code that reads or writes
 * device memory itself in the stream's place. Returns, and clears, the first error of that work. A
 * few nanoseconds when there is none. */
PITON_API piton_status_t piton_stream_join_current(int device);

/* ---- memory -------------------------------------------------------------------------------- */

/** Allocates device memory, aligned to 512 bytes, contents undefined. Zero bytes give NULL.
 * PITON_ERROR_OUT_OF_MEMORY if the device's capacity or the host's memory does not suffice. */
PITON_API piton_status_t piton_memory_allocate(piton_device_t *device, uint64_t bytes,
                                               void **out_pointer);

/** Frees memory of piton_memory_allocate; NULL is allowed. Does not block: memory that submitted
 * work may still use is kept until that work is done. */
PITON_API piton_status_t piton_memory_free(void *pointer);

/** Which device's memory `pointer` lies in; sets *out_device to NULL for memory that is not a
 * device's. Any address of the device counts, in a block or not. */
PITON_API piton_status_t piton_memory_device(const void *pointer, piton_device_t **out_device);

/** What a device's memory has been used for; bytes are rounded up to 512 a block. */
typedef struct piton_memory_statistics {
  uint64_t used_bytes; /**< in blocks that are not free, peaks since piton_memory_reset_peaks */
  uint64_t peak_used_bytes;
  uint64_t reserved_bytes; /**< given by the host, for blocks in use or kept for later ones */
  uint64_t peak_reserved_bytes;
  uint64_t blocks; /**< that are not free */
  uint64_t peak_blocks;
  uint64_t allocations; /**< calls that succeeded, since the start */
  uint64_t frees;
  uint64_t allocated_bytes;
  uint64_t freed_bytes;
  uint64_t retries;  /**< allocations that waited for freed memory */
  uint64_t refusals; /**< PITON_ERROR_OUT_OF_MEMORY */
} piton_memory_statistics_t;

PITON_API piton_status_t piton_memory_statistics(piton_device_t *device,
                                                 piton_memory_statistics_t *out_statistics);

/** Sets the peaks to what they are now. */
PITON_API piton_status_t piton_memory_reset_peaks(piton_device_t *device);

/** Gives the host back the pages of memory that is free. */
PITON_API piton_status_t piton_memory_trim(piton_device_t *device);

/** Copies in stream order; ranges may overlap. With a NULL stream the copy is done on return.
 * Both ranges must be valid until the copy is done; it is the caller's duty that they are mapped.
 */
PITON_API piton_status_t piton_memory_copy(void *destination, const void *source, uint64_t bytes,
                                           piton_stream_t *stream);

/** Sets every byte to `value` in stream order; with a NULL stream before returning. */
PITON_API piton_status_t piton_memory_fill(void *destination, int value, uint64_t bytes,
                                           piton_stream_t *stream);

/* ---- streams ------------------------------------------------------------------------------- */

/** Creates a stream: an ordered queue with a thread of its own, started when first needed. */
PITON_API piton_status_t piton_stream_create(piton_device_t *device, piton_stream_t **out_stream);

/** The device's default stream, which need not and cannot be destroyed. It is ordered like any
 * other stream and not with them. */
PITON_API piton_status_t piton_stream_default(piton_device_t *device, piton_stream_t **out_stream);

/** Blocks until the stream's work is done, then destroys it. NULL is allowed. Not from a function
 * that runs on the stream. Returns the stream's unreported error; it is destroyed regardless. */
PITON_API piton_status_t piton_stream_destroy(piton_stream_t *stream);

/** Blocks until all work submitted to the stream so far is done. Returns, and clears, the first
 * error of that work; PITON_ERROR_INTERRUPTED if Ctrl-C ended the wait. */
PITON_API piton_status_t piton_stream_synchronize(piton_stream_t *stream);

/** PITON_OK if the stream has no work, PITON_ERROR_NOT_READY otherwise. Does not block. */
PITON_API piton_status_t piton_stream_query(piton_stream_t *stream);

/** PITON_OK if `stream` is a live stream of `device`; any pointer may be asked about. */
PITON_API piton_status_t piton_stream_check(piton_device_t *device, const piton_stream_t *stream);

/** The device a stream belongs to. Never fails. */
PITON_API piton_device_t *piton_stream_device(const piton_stream_t *stream);

/** Work submitted to `stream` from now on starts after the work that `event` last recorded is done.
 * An event that was never recorded is no constraint. Does not block. */
PITON_API piton_status_t piton_stream_wait_event(piton_stream_t *stream, piton_event_t *event);

/** Calls function(data) in stream order, on the stream's thread or, if the stream is idle, on the
 * caller's before returning. The function must not wait for this stream. */
PITON_API piton_status_t piton_stream_call(piton_stream_t *stream, void (*function)(void *),
                                           void *data);

/* ---- events -------------------------------------------------------------------------------- */

/** Creates an event: a point in a stream's order with the time at which it was reached. */
PITON_API piton_status_t piton_event_create(piton_event_t **out_event);

/** Destroys an event; work that waits for it is not affected. NULL is allowed. */
PITON_API piton_status_t piton_event_destroy(piton_event_t *event);

/** Places the event behind the work submitted to `stream` so far; replaces an earlier record. */
PITON_API piton_status_t piton_event_record(piton_event_t *event, piton_stream_t *stream);

/** Blocks until the recorded work is done; returns and clears that stream's first error. At once
 * for an event that was never recorded. */
PITON_API piton_status_t piton_event_synchronize(piton_event_t *event);

/** PITON_OK if the recorded work is done (or nothing was recorded), else PITON_ERROR_NOT_READY. */
PITON_API piton_status_t piton_event_query(piton_event_t *event);

/** Milliseconds between two events. PITON_ERROR_NOT_READY if one is not done yet,
 * PITON_ERROR_INVALID_ARGUMENT if one was never recorded. */
PITON_API piton_status_t piton_event_elapsed(piton_event_t *start, piton_event_t *end,
                                             float *out_milliseconds);

/* ---- kernels ------------------------------------------------------------------------------- */

/** Element types of arguments; the values of piton::ElementType. */
typedef enum piton_type {
  PITON_TYPE_I1 = 0,
  PITON_TYPE_I8 = 1,
  PITON_TYPE_I16 = 2,
  PITON_TYPE_I32 = 3,
  PITON_TYPE_I64 = 4,
  PITON_TYPE_U8 = 5,
  PITON_TYPE_U16 = 6,
  PITON_TYPE_U32 = 7,
  PITON_TYPE_U64 = 8,
  PITON_TYPE_F16 = 9,
  PITON_TYPE_BF16 = 10,
  PITON_TYPE_F32 = 11,
  PITON_TYPE_F64 = 12,
  PITON_TYPE_F8E4M3FN = 13,
  PITON_TYPE_F8E5M2 = 14,
  PITON_TYPE_F8E4M3FNUZ = 15,
  PITON_TYPE_F8E5M2FNUZ = 16,
  PITON_TYPE_POINTER = 17
} piton_type_t;

/** One argument of a kernel. The name lives as long as the kernel. */
typedef struct piton_argument {
  piton_type_t type;    /**< PITON_TYPE_POINTER for buffers */
  piton_type_t pointee; /**< element type of a buffer */
  uint32_t offset;      /**< in the packed argument block */
  uint32_t slot_bytes; /**< 8 for pointers and 64-bit scalars, else 4; F16 and BF16 travel as F32 */
  int32_t tensor_kind; /**< 0 input, 1 output, 2 both, -1 unknown */
  const char *name;    /**< may be empty */
} piton_argument_t;

/** What a kernel is. Strings live as long as the kernel. */
typedef struct piton_kernel_properties {
  const char *name;
  const char *target;   /**< SoC it was compiled for */
  const char *mix_mode; /**< "aiv", "aic" or "mix" */
  uint32_t argument_count;
  uint32_t can_block;      /**< 1 if blocks may wait for each other */
  uint32_t distributed;    /**< 1 if it needs an initialised symmetric heap */
  uint64_t argument_bytes; /**< size of the packed argument block */
  uint64_t local_bytes;    /**< local memory of one block */
} piton_kernel_properties_t;

/** Verifies and loads a kernel image; the bytes are not needed afterwards.
 * PITON_ERROR_INVALID_IMAGE if they are damaged, PITON_ERROR_UNSUPPORTED if this machine cannot run
 * them. */
PITON_API piton_status_t piton_kernel_load(const void *image, size_t bytes,
                                           piton_kernel_t **out_kernel);

/** Gives the handle up; launches in flight keep the code. NULL is allowed. */
PITON_API piton_status_t piton_kernel_release(piton_kernel_t *kernel);

PITON_API piton_status_t piton_kernel_properties(const piton_kernel_t *kernel,
                                                 piton_kernel_properties_t *out_properties);

/** Argument `index`, counted from 0. */
PITON_API piton_status_t piton_kernel_argument(const piton_kernel_t *kernel, uint32_t index,
                                               piton_argument_t *out_argument);

/* ---- launch -------------------------------------------------------------------------------- */

/** The launch is complete when piton_launch returns. */
#define PITON_LAUNCH_SYNCHRONOUS 1u

/** Launches grid[0] * grid[1] * grid[2] blocks. `arguments` is the packed block described by
 * piton_kernel_argument and is copied where needed.
 *
 * With a stream the launch is ordered in it. It runs on the calling thread before returning when
 * the stream is idle and the kernel cannot block, or when it is synchronous; otherwise it is queued
 * and its error comes with a later synchronisation. With a NULL stream it runs on device 0 before
 * returning, in no order with any stream.
 *
 * A zero dimension launches nothing. More than max_blocks blocks run in rounds with one warning;
 * under PITON_STRICT=1 they are PITON_ERROR_LIMIT, unless TRITON_ALL_BLOCKS_PARALLEL=1 lifts the
 * limit. */
PITON_API piton_status_t piton_launch(piton_kernel_t *kernel, piton_stream_t *stream,
                                      const uint32_t grid[3], const void *arguments,
                                      size_t argument_bytes, uint32_t flags);

/** As piton_launch, but an interrupt since `interrupt_count` was read counts as one of this launch.
 * A host that notes signals and acts on them later (an interpreter) reads the count, looks whether
 * it has a signal to act on, and launches: then none is missed in between. */
PITON_API piton_status_t piton_launch_since(piton_kernel_t *kernel, piton_stream_t *stream,
                                            const uint32_t grid[3], const void *arguments,
                                            size_t argument_bytes, uint32_t flags,
                                            uint64_t interrupt_count);

/** How many interrupts there have been, plus one; from the first call on Ctrl-C counts, in a
 * process that handles SIGINT. */
PITON_API uint64_t piton_interrupt_count(void);

/** Ends all running and queued launches, and waits, with PITON_ERROR_INTERRUPTED. May be called
 * from a signal handler. Ctrl-C does this by itself in a process that handles SIGINT, such as
 * Python. */
PITON_API void piton_launch_interrupt(void);

/* ---- matrix product ------------------------------------------------------------------------ */

/** An operand: element [b, i, j] lies at data + b * batch + i * row + j * column, in elements. */
typedef struct piton_matrix {
  const void *data;
  int64_t batch, row, column;
} piton_matrix_t;

/** D = alpha * (A x B) + beta * C for `batch` matrices, A m by k, B k by n, accumulated in fp32. */
typedef struct piton_product {
  piton_type_t type; /**< of all operands: PITON_TYPE_F16, PITON_TYPE_BF16 or PITON_TYPE_F32 */
  int64_t batch, m, n, k;
  piton_matrix_t a, b;
  piton_matrix_t c;       /**< not read when beta is 0; strides may be 0 */
  void *d;                /**< overlaps no operand but, element by element, C */
  int64_t d_batch, d_row; /**< the columns of D are contiguous */
  float alpha, beta;
} piton_product_t;

/** Computes a product with the cube cores' tile product, on the calling thread and its team, before
 * returning; in no order with any stream. */
PITON_API piton_status_t piton_product(const piton_product_t *product);

#ifdef __cplusplus
}
#endif

#endif /* PITON_RUNTIME_H */
