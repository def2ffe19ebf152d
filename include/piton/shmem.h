/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The symmetric heap: memory that every PE (process of a distributed job) has with the same size
 * and layout, and calls that read, write and signal in the memory of other PEs. Names and meaning
 * are those of aclshmem 1.1; kernels use the same heap through the device library.
 *
 *   aclshmemx_set_conf_store_tls(false, "", 0);          // or certificates
 *   aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_DEFAULT;
 *   attr.my_pe = rank; attr.n_pes = world; attr.local_mem_size = 1 << 30;
 *   strcpy(attr.ip_port, "tcp://127.0.0.1:8666");
 *   aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr);
 *   int *word = aclshmem_malloc(64);
 *   ...
 *   aclshmem_finalize();
 *
 * Rules that hold for every function unless it says otherwise:
 *  - sizes are bytes, element counts are elements, times are seconds; a PE is numbered in the
 * world;
 *  - a function that returns int returns ACLSHMEM_SUCCESS or an aclshmem_error_code_t; one that
 *    returns a pointer returns NULL on failure; after a function that returns nothing
 *    aclshmemx_last_status() has the code. piton_last_error() has the reason, with the values
 *    involved, of the last failed call of this thread; it is also logged;
 *  - nothing hangs: a call that waits for other PEs ends with ACLSHMEM_TIMEOUT_ERROR after
 *    control_operation_timeout, and with ACLSHMEM_INNER_ERROR naming the PE soon after a PE died.
 *    After that the job is lost: every call fails with the same reason until aclshmem_finalize;
 *  - a pointer to memory that is not there, or that may not be written, is ACLSHMEM_INVALID_PARAM
 *    naming the call, the argument and the address; a part of the data may have been moved by then.
 *    (Not if the program replaced the handler of SIGSEGV after init and has launched nothing
 * since);
 *  - any thread may call it; collective calls must be made in the same order on all PEs. Barriers
 *    of several threads of a PE on one team come one after the other.
 *
 * Environment: SHMEM_UID_SESSION_ID, SHMEM_UID_SOCK_IFNAME (unique ids), SHMEM_LOG_LEVEL,
 * SHMEM_LOG_TO_STDOUT, SHMEM_LOG_PATH (messages), SHMEM_CYCLE_PROF_PE (cycle profiles),
 * SMEM_CONF_STORE_TLS_ENABLE=0 (no TLS unless it is asked for), PITON_STANDSTILL_SECONDS (after how
 * long a job in which all PEs wait is ended with a report, 10; 0 for never; a PE with a thread that
 * computes, or is in one long sleep, does not wait), PITON_ROCE_LIBRARY
 * (the engine to other hosts, where it does not lie beside this library), PITON_SHMEM_FORCE_ROCE=1
 * (with the ROCE engine, reach PEs of this host over it too). */
#ifndef PITON_SHMEM_H
#define PITON_SHMEM_H

#include "piton/shmem_types.h"
#include "piton/status.h"

#ifdef __cplusplus
extern "C" {
#define ACLSHMEM_DEFAULT(value) = value
#else
#define ACLSHMEM_DEFAULT(value)
#endif

/* ---- start and end ------------------------------------------------------------------------- */

/** Says how the PEs' control connections are protected; before init. `enable` false: plain TCP.
 * True (the default): TLS, and `info` of `length` bytes names the certificates as
 * "key=value" pairs separated by ';':
 *   tlsCaPath     folder of tlsCaFile; optional when that is a path
 *   tlsCaFile     certificates of the authorities that peers' certificates are checked against
 *   tlsCert       this PE's certificate (chain)
 *   tlsPk         its private key, PEM; may be encrypted
 *   tlsCrlPath    folder of tlsCrlFile; optional
 *   tlsCrlFile    certificate revocation list; optional
 *   tlsPeerName   DNS name or IP address that the certificate of every other PE must have;
 * optional. Without it every certificate of the authorities admits, whatever its name Files are
 * read at init. Always ACLSHMEM_SUCCESS unless an argument is unusable. */
PITON_API int32_t aclshmemx_set_conf_store_tls(bool enable, const char *info, uint32_t length);

/** Opens an encrypted password: writes the plain text to `plain`, which has `*plain_length` bytes,
 * and its length to `*plain_length`; 0 on success. */
typedef int (*aclshmem_decrypt_handler)(const char *cipher, size_t cipher_length, char *plain,
                                        size_t *plain_length);

/** The private key as PEM text, in place of tlsPk, and the password of an encrypted key; `decrypt`
 * may be NULL when the password is plain. Before init. */
PITON_API int32_t aclshmemx_set_config_store_tls_key(const char *key, uint32_t key_length,
                                                     const char *password, uint32_t password_length,
                                                     aclshmem_decrypt_handler decrypt);

/** Makes a unique id: an address at which this process, which must become PE 0, listens from now
 * on. SHMEM_UID_SESSION_ID=host:port chooses the address, SHMEM_UID_SOCK_IFNAME=<interface>[:inet4|
 * :inet6] the interface. */
PITON_API int aclshmemx_get_uniqueid(aclshmemx_uniqueid_t *uid);

/** Fills `attr` for ACLSHMEMX_INIT_WITH_UNIQUEID; *uid must live until init. */
PITON_API int aclshmemx_set_attr_uniqueid_args(int my_pe, int n_pes, int64_t local_mem_size,
                                               aclshmemx_uniqueid_t *uid,
                                               aclshmemx_init_attr_t *attr);

/** Collective: the PEs meet, map each other's heaps and make the world team. On failure nothing is
 * left behind. */
PITON_API int aclshmemx_init_attr(aclshmemx_bootstrap_t flags, aclshmemx_init_attr_t *attr);

/** An aclshmemx_init_status_t. Never fails. */
PITON_API int aclshmemx_init_status(void);

/** Collective: the heaps and everything in them are gone afterwards, and init may be called again.
 * ACLSHMEM_SUCCESS if there was nothing to end. After a failure of the job it does not wait for
 * anybody. Calls of other threads are waited for, user streams are not: what is left in them fails.
 */
PITON_API int aclshmem_finalize(void);
/** As aclshmem_finalize for instance 0. There is no other: ACLSHMEM_INVALID_PARAM. */
PITON_API int aclshmemx_finalize(uint64_t instance_id);

/** The instance that calls go to: number 0 between init and finalize, else NULL. */
PITON_API aclshmem_instance_ctx *aclshmemx_instance_ctx_get(void);
/** ACLSHMEM_SUCCESS for instance 0, ACLSHMEM_NOT_SUPPORTED for others. */
PITON_API int aclshmemx_instance_ctx_set(uint64_t instance_id);

/** Ends the process of every PE with exit code `status`. Before init: a warning. */
PITON_API void aclshmem_global_exit(int status);

PITON_API void aclshmem_info_get_version(int *major, int *minor);
/** `name` has room for ACLSHMEM_MAX_NAME_LEN bytes. */
PITON_API void aclshmem_info_get_name(char *name);

/** aclshmem_error_code_t of the last call of this thread that reports one. */
PITON_API int aclshmemx_last_status(void);
/** Makes it ACLSHMEM_SUCCESS. */
PITON_API void aclshmemx_clear_status(void);

/** Levels: 0 debug, 1 info, 2 warning, 3 error (default), 4 fatal. SHMEM_LOG_LEVEL wins. Messages
 * go to stderr; to stdout with SHMEM_LOG_TO_STDOUT=1; to a file in SHMEM_LOG_PATH if that is set.
 */
PITON_API int32_t aclshmemx_set_log_level(int level);
/** `logger` receives every message, whatever the level, in place of the above; NULL ends that. */
PITON_API int32_t aclshmemx_set_extern_logger(void (*logger)(int level, const char *message));

/* ---- memory -------------------------------------------------------------------------------- */

/** Collective, with the same size on all PEs: different sizes are an error on all of them that
 * names two PEs and their sizes. The memory has the same offset in every heap, is aligned to 64
 * bytes and is not cleared. NULL for size 0. */
PITON_API void *aclshmem_malloc(size_t size);
/** As aclshmem_malloc(count * size), cleared. */
PITON_API void *aclshmem_calloc(size_t count, size_t size);
/** `alignment` is a power of two, up to 1 GiB. */
PITON_API void *aclshmem_align(size_t alignment, size_t size);
/** Collective. NULL is allowed and not collective. A pointer that is not the start of an allocation
 * is an error and changes nothing. */
PITON_API void aclshmem_free(void *pointer);

PITON_API void *aclshmemx_malloc(size_t size,
                                 aclshmem_mem_type_t type ACLSHMEM_DEFAULT(DEVICE_SIDE));
PITON_API void *aclshmemx_calloc(size_t count, size_t size,
                                 aclshmem_mem_type_t type ACLSHMEM_DEFAULT(DEVICE_SIDE));
PITON_API void *aclshmemx_align(size_t alignment, size_t size,
                                aclshmem_mem_type_t type ACLSHMEM_DEFAULT(DEVICE_SIDE));
PITON_API void aclshmemx_free(void *pointer,
                              aclshmem_mem_type_t type ACLSHMEM_DEFAULT(DEVICE_SIDE));
/** Start of this PE's heap, or NULL. */
PITON_API void *aclshmemx_get_heap_base(aclshmem_mem_type_t type ACLSHMEM_DEFAULT(DEVICE_SIDE));

/** Address at which this process reaches `pointer`, which lies in its own heap, in the heap of
 * `pe`. NULL if the PE or the pointer is none, or if the PE's heap is not mapped (another host). */
PITON_API void *aclshmem_ptr(void *pointer, int pe);

/* ---- who am I ------------------------------------------------------------------------------ */

PITON_API int aclshmem_my_pe(void); /**< -1 before init */
PITON_API int aclshmem_n_pes(void); /**< -1 before init */

/* ---- teams --------------------------------------------------------------------------------- */

/** This PE's index in the team; -1 if it is no member or there is no such team. */
PITON_API int aclshmem_team_my_pe(aclshmem_team_t team);
/** Members of the team; -1 as above. */
PITON_API int aclshmem_team_n_pes(aclshmem_team_t team);

/** Collective over `parent`: makes the team of its members pe_start, pe_start + pe_stride, ...,
 * pe_size of them. PEs that are no members succeed too and get ACLSHMEM_TEAM_INVALID. The number is
 * the same on all members. */
PITON_API int aclshmem_team_split_strided(aclshmem_team_t parent, int pe_start, int pe_stride,
                                          int pe_size, aclshmem_team_t *new_team);

/** Collective over `parent`: lays its members out in rows of x_range (the last one may be shorter);
 * every PE gets its row as x_team and its column as y_team. x_range above the parent's size counts
 * as that size. */
PITON_API int aclshmem_team_split_2d(aclshmem_team_t parent, int x_range, aclshmem_team_t *x_team,
                                     aclshmem_team_t *y_team);

/** Index in dest_team of the PE with index src_pe in src_team; -1 if there is none. */
PITON_API int aclshmem_team_translate_pe(aclshmem_team_t src_team, int src_pe,
                                         aclshmem_team_t dest_team);

/** To be called by every member; the number is reused when all have. Not for the world. */
PITON_API void aclshmem_team_destroy(aclshmem_team_t team);

PITON_API int aclshmem_team_get_config(aclshmem_team_t team, aclshmem_team_config_t *config);

/* ---- moving data --------------------------------------------------------------------------- */
/* `pe` is the PE at the other side; the remote address is given as an address of this PE's heap. A
 * plain call returns when the data is where it belongs; after an _nbi call the source must not
 * change and the destination is undefined until aclshmem_quiet or a barrier. Calls on one PE are
 * not ordered unless aclshmem_fence or aclshmem_quiet stands between them. */

PITON_API void aclshmem_putmem(void *dst, void *src, size_t bytes, int32_t pe);
PITON_API void aclshmem_getmem(void *dst, void *src, size_t bytes, int32_t pe);
PITON_API void aclshmem_putmem_nbi(void *dst, void *src, size_t bytes, int32_t pe);
PITON_API void aclshmem_getmem_nbi(void *dst, void *src, size_t bytes, int32_t pe);

/** X(name, type) for every type of the typed calls below. */
#define ACLSHMEM_RMA_TYPES(X)                                                                      \
  X(float, float)                                                                                  \
  X(double, double)                                                                                \
  X(int8, int8_t)                                                                                  \
  X(int16, int16_t)                                                                                \
  X(int32, int32_t)                                                                                \
  X(int64, int64_t)                                                                                \
  X(uint8, uint8_t)                                                                                \
  X(uint16, uint16_t)                                                                              \
  X(uint32, uint32_t)                                                                              \
  X(uint64, uint64_t)                                                                              \
  X(char, char)

/** X(bits) for every width of the sized calls below. */
#define ACLSHMEM_RMA_BITS(X) X(8) X(16) X(32) X(64) X(128)

/* aclshmem_<T>_put, _get, _put_nbi, _get_nbi: `nelems` elements.
 * aclshmem_<T>_iput, _iget: element i goes from source + i * sst to dest + i * dst (in elements;
 * may be negative, and sst may be 0). aclshmem_<T>_p, _g: one element. aclshmem_<T>_put_signal,
 * _put_signal_nbi: the data, then the signal: who sees the signal sees the data. */
#define ACLSHMEM_DECLARE_TYPED(name, T)                                                            \
  PITON_API void aclshmem_##name##_put(T *dest, T *source, size_t nelems, int pe);                 \
  PITON_API void aclshmem_##name##_get(T *dest, T *source, size_t nelems, int pe);                 \
  PITON_API void aclshmem_##name##_put_nbi(T *dest, T *source, size_t nelems, int pe);             \
  PITON_API void aclshmem_##name##_get_nbi(T *dest, T *source, size_t nelems, int pe);             \
  PITON_API void aclshmem_##name##_iput(T *dest, T *source, ptrdiff_t dst, ptrdiff_t sst,          \
                                        size_t nelems, int pe);                                    \
  PITON_API void aclshmem_##name##_iget(T *dest, T *source, ptrdiff_t dst, ptrdiff_t sst,          \
                                        size_t nelems, int pe);                                    \
  PITON_API void aclshmem_##name##_p(T *dst, const T value, int pe);                               \
  PITON_API T aclshmem_##name##_g(T *src, int32_t pe);                                             \
  PITON_API void aclshmem_##name##_put_signal(T *dst, T *src, size_t nelems, uint8_t *sig_addr,    \
                                              int32_t signal, int sig_op, int pe);                 \
  PITON_API void aclshmem_##name##_put_signal_nbi(                                                 \
      T *dst, T *src, size_t nelems, uint8_t *sig_addr, int32_t signal, int sig_op, int pe);
ACLSHMEM_RMA_TYPES(ACLSHMEM_DECLARE_TYPED)
#undef ACLSHMEM_DECLARE_TYPED

/* The same by width; elem_size is the number of elements. */
#define ACLSHMEM_DECLARE_SIZED(BITS)                                                               \
  PITON_API void aclshmem_put##BITS(void *dst, void *src, uint32_t elem_size, int32_t pe);         \
  PITON_API void aclshmem_get##BITS(void *dst, void *src, uint32_t elem_size, int32_t pe);         \
  PITON_API void aclshmem_put##BITS##_nbi(void *dst, void *src, uint32_t elem_size, int32_t pe);   \
  PITON_API void aclshmem_get##BITS##_nbi(void *dst, void *src, uint32_t elem_size, int32_t pe);   \
  PITON_API void aclshmem_iput##BITS(void *dest, void *source, ptrdiff_t dst, ptrdiff_t sst,       \
                                     size_t nelems, int pe);                                       \
  PITON_API void aclshmem_iget##BITS(void *dest, void *source, ptrdiff_t dst, ptrdiff_t sst,       \
                                     size_t nelems, int pe);                                       \
  PITON_API void aclshmem_put##BITS##_signal(                                                      \
      void *dst, void *src, size_t nelems, int32_t *sig_addr, int32_t signal, int sig_op, int pe); \
  PITON_API void aclshmem_put##BITS##_signal_nbi(                                                  \
      void *dst, void *src, size_t nelems, int32_t *sig_addr, int32_t signal, int sig_op, int pe);
ACLSHMEM_RMA_BITS(ACLSHMEM_DECLARE_SIZED)
#undef ACLSHMEM_DECLARE_SIZED

PITON_API void aclshmemx_putmem_signal(void *dst, void *src, size_t bytes, void *sig_addr,
                                       int32_t signal, int sig_op, int pe);
PITON_API void aclshmemx_putmem_signal_nbi(void *dst, void *src, size_t bytes, void *sig_addr,
                                           int32_t signal, int sig_op, int pe);

/** Operations before it are visible to each PE before those after it. */
PITON_API void aclshmem_fence(void);
/** Returns when all operations of this PE are done and visible. */
PITON_API void aclshmem_quiet(void);

/* ---- signals and waits --------------------------------------------------------------------- */
/* Signals are 32-bit words 64 bytes apart. Waits only read, so several waiters may share a word;
 * who owns the protocol resets it. `cmp` is one of ACLSHMEM_CMP_*: word CMP value. */

/** ACLSHMEM_SIGNAL_SET stores, ACLSHMEM_SIGNAL_ADD adds atomically. */
PITON_API void aclshmemx_signal_op(int32_t *sig_addr, int32_t signal, int sig_op, int pe);
PITON_API void aclshmem_signal_wait_until(int32_t *sig_addr, int cmp, int32_t cmp_val);

/** X(name, type) for every type of the waits below. */
#define ACLSHMEM_P2P_TYPES(X)                                                                      \
  X(float, float)                                                                                  \
  X(int8, int8_t)                                                                                  \
  X(int16, int16_t)                                                                                \
  X(int32, int32_t)                                                                                \
  X(int64, int64_t)                                                                                \
  X(uint8, uint8_t)                                                                                \
  X(uint16, uint16_t)                                                                              \
  X(uint32, uint32_t)                                                                              \
  X(uint64, uint64_t)                                                                              \
  X(char, char)

/* wait: until the word is not `value`. In the forms over `n` words status[i] != 0 leaves word i out
 * (status may be NULL); _vector forms compare word i with values[i].
 * any: *res_out is the index of a word that holds, SIZE_MAX if there is none (for waits: if all are
 * left out or n is 0). some: *res_out words hold and `indices` lists them. test forms do not wait.
 */
#define ACLSHMEM_DECLARE_WAITS(name, T)                                                            \
  PITON_API void aclshmem_##name##_wait(T *ivar, T value);                                         \
  PITON_API void aclshmem_##name##_wait_until(T *ivar, int cmp, T value);                          \
  PITON_API void aclshmem_##name##_wait_until_all(T *ivars, size_t n, const int *status, int cmp,  \
                                                  T value);                                        \
  PITON_API void aclshmem_##name##_wait_until_any(T *ivars, size_t n, const int *status, int cmp,  \
                                                  T value, size_t *res_out);                       \
  PITON_API void aclshmem_##name##_wait_until_some(                                                \
      T *ivars, size_t n, size_t *indices, const int *status, int cmp, T value, size_t *res_out);  \
  PITON_API void aclshmem_##name##_wait_until_all_vector(T *ivars, size_t n, const int *status,    \
                                                         int cmp, T *values);                      \
  PITON_API void aclshmem_##name##_wait_until_any_vector(T *ivars, size_t n, const int *status,    \
                                                         int cmp, T *values, size_t *res_out);     \
  PITON_API void aclshmem_##name##_wait_until_some_vector(T *ivars, size_t n, size_t *indices,     \
                                                          const int *status, int cmp, T *values,   \
                                                          size_t *res_out);                        \
  PITON_API void aclshmem_##name##_test(T *ivars, int cmp, T value, int *res_out);                 \
  PITON_API void aclshmem_##name##_test_any(T *ivars, size_t n, const int *status, int cmp,        \
                                            T value, size_t *res_out);                             \
  PITON_API void aclshmem_##name##_test_some(                                                      \
      T *ivars, size_t n, size_t *indices, const int *status, int cmp, T value, size_t *res_out);  \
  PITON_API void aclshmem_##name##_test_all_vector(T *ivars, size_t n, const int *status, int cmp, \
                                                   T *values, int *res_out);                       \
  PITON_API void aclshmem_##name##_test_any_vector(T *ivars, size_t n, const int *status, int cmp, \
                                                   T *values, size_t *res_out);                    \
  PITON_API void aclshmem_##name##_test_some_vector(T *ivars, size_t n, size_t *indices,           \
                                                    const int *status, int cmp, T *values,         \
                                                    size_t *res_out);
ACLSHMEM_P2P_TYPES(ACLSHMEM_DECLARE_WAITS)
#undef ACLSHMEM_DECLARE_WAITS

/* ---- barriers ------------------------------------------------------------------------------ */

/** Collective over the team: returns when all members have called it; what they sent before is
 * visible to all. */
PITON_API void aclshmem_barrier(aclshmem_team_t team);
PITON_API void aclshmem_barrier_all(void);
/** The same as the barrier of that team. */
PITON_API void aclshmem_sync(aclshmem_team_t team);
PITON_API void aclshmem_sync_all(void);

/* ---- in stream order ----------------------------------------------------------------------- */
/* The call is made when the stream gets there; the function returns at once. Its failure is the
 * stream's error, which the next synchronisation reports. */

PITON_API void aclshmemx_putmem_on_stream(void *dst, void *src, size_t bytes, int32_t pe,
                                          aclrtStream stream);
PITON_API void aclshmemx_getmem_on_stream(void *dst, void *src, size_t bytes, int32_t pe,
                                          aclrtStream stream);
PITON_API void aclshmemx_quiet_on_stream(aclrtStream stream);
PITON_API void aclshmemx_signal_op_on_stream(int32_t *sig_addr, int32_t signal, int sig_op, int pe,
                                             aclrtStream stream);
PITON_API void aclshmemx_signal_wait_until_on_stream(int32_t *sig_addr, int cmp, int32_t cmp_val,
                                                     aclrtStream stream);
PITON_API void aclshmemx_barrier_on_stream(aclshmem_team_t team, aclrtStream stream);
PITON_API void aclshmemx_barrier_all_on_stream(aclrtStream stream);

/** All members' transfers among each other are done; returns at once on PEs that are no members. */
PITON_API void aclshmemx_handle_wait(aclshmem_handle_t handle, aclrtStream stream);

/* ---- cycle profiles ------------------------------------------------------------------------ */
/* With SHMEM_CYCLE_PROF_PE=<pe> at init, kernels on that PE count the cycles between their calls of
 * aclshmemx_prof_start(frame) and aclshmemx_prof_end(frame), for each block and frame. A cycle is
 * 1/50 us, on the 950 generation 1/1000 us. */

/** A copy of the counts in *out, valid until the next call or finalize, or NULL if this PE is not
 * the profiled one; `out` may be NULL. `verbose` also prints the frames that were counted: "BlockID
 * FrameID Cycles Count AvgTime(us)". Kernels in flight may be missing: synchronise before. */
PITON_API void aclshmemx_get_prof(aclshmem_prof_pe_t **out, bool verbose);
/** Prints the frames that were counted; the former aclshmemx_get_prof(NULL, true). */
PITON_API void aclshmemx_show_prof(void);

/* ---- buffers of the engines ---------------------------------------------------------------- */

/** Local memory on a vector core that calls of an engine use when they name none: `ub_size` bytes
 * at `ub_offset` of UB (192 KiB), at least 128 for UDMA and RDMA and 64 for SDMA. */
PITON_API int aclshmemx_set_mte_config(uint64_t ub_offset, uint32_t ub_size, uint32_t sync_id);
PITON_API int aclshmemx_set_sdma_config(uint64_t ub_offset, uint32_t ub_size, uint32_t sync_id);
PITON_API int aclshmemx_set_rdma_config(uint64_t ub_offset, uint32_t ub_size, uint32_t sync_id);
PITON_API int aclshmemx_set_udma_config(uint64_t ub_offset, uint32_t ub_size, uint32_t sync_id);

/** Base of the cross-core flags that kernels of the 910 generation are given; the simulated NPU
 * needs none: 0. */
PITON_API uint64_t util_get_ffts_config(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

/* The former names, shmem_malloc for aclshmem_malloc and so on, as macros; not with
 * PITON_SHMEM_NO_ALIASES, for sources that also use another SHMEM. */
#ifndef PITON_SHMEM_NO_ALIASES
#include "piton/shmem_aliases.h"
#endif

#endif /* PITON_SHMEM_H */
