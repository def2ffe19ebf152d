/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Constants, enumerations and structures of the symmetric heap (piton/shmem.h includes this).
 * Names, values and layouts are those of aclshmem 1.1, also of those that only device code or tools
 * use. */
#ifndef PITON_SHMEM_TYPES_H
#define PITON_SHMEM_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- constants ----------------------------------------------------------------------------- */

#define ACLSHMEM_MAJOR_VERSION 1
#define ACLSHMEM_MINOR_VERSION 1
#define ACLSHMEM_VENDOR_STRING "ACLSHMEM v1.1.1"
#define ACLSHMEM_MAX_NAME_LEN 256
#define ACLSHMEM_MAX_IP_PORT_LEN 64
#define ACLSHMEM_UNIQUE_ID_INNER_LEN 124
#define ACLSHMEM_DEFAULT_TIMEOUT 120 /**< seconds */
#define ACLSHMEM_MAX_PES 16384
#define ACLSHMEM_MAX_TEAMS 2048
#define ACLSHMEM_MAX_LOCAL_SIZE (40ull << 30)
#define ACLSHMEM_SIGNAL_SIZE 8
#define ACLSHMEM_PAGE_SIZE (2ull << 20)
#define ACLSHMEM_HEAP_ALIGNMENT_SIZE (1ull << 30) /**< unit of the distance between heaps */
#define SCALAR_DATA_CACHELINE_SIZE 64             /**< also the distance between signal words */
#define L2_CACHELINE_SIZE 512

/* Synchronisation words, which lie in every heap behind the user's memory. */
#define ACLSHMEM_SYNCBIT_SIZE 64
#define SYNC_LOG_MAX_PES 5
#define ACLSHMEM_BARRIER_TG_DISSEM_KVAL 8
#define SYNC_ARRAY_SIZE                                                                            \
  (ACLSHMEM_SYNCBIT_SIZE * SYNC_LOG_MAX_PES * ACLSHMEM_BARRIER_TG_DISSEM_KVAL) /**< per team */
#define SYNC_COUNTER_SIZE ACLSHMEM_SYNCBIT_SIZE
#define SYNC_POOL_SIZE (SYNC_ARRAY_SIZE * ACLSHMEM_MAX_TEAMS)
#define SYNC_COUNTERS_SIZE (SYNC_COUNTER_SIZE * ACLSHMEM_MAX_TEAMS)
/** What every heap has in addition to local_mem_size. */
#define ACLSHMEM_EXTRA_SIZE                                                                        \
  ((SYNC_POOL_SIZE + ACLSHMEM_PAGE_SIZE - 1) / ACLSHMEM_PAGE_SIZE * ACLSHMEM_PAGE_SIZE)
#define ACLSHMEM_MAX_AIV_PER_NPU 48
#define ACLSHMEM_LOG_MAX_AIV_PER_NPU 6
#define ACLSHMEM_CORE_SYNC_POOL_SIZE                                                               \
  (ACLSHMEM_MAX_AIV_PER_NPU * ACLSHMEM_LOG_MAX_AIV_PER_NPU * ACLSHMEM_SYNCBIT_SIZE)
#define ACLSHMEM_CORE_SYNC_COUNTER_SIZE ACLSHMEM_SYNCBIT_SIZE
#define STARS_NOTIFY_ADDR_OFFSET (14 << 10)
#define SDMA_FLAG_LENGTH 64
#define UDMA_MTE_STAGING_UB_SIZE 128 /**< least */
#define RDMA_MTE_STAGING_UB_SIZE 128 /**< least */

#define ACLSHMEM_CYCLE_PROF_MAX_BLOCK 64   /**< blocks that are profiled, the first of a launch */
#define ACLSHMEM_CYCLE_PROF_FRAME_CNT 1024 /**< sections of a kernel with a count of their own */
#define TEAM_CONFIG_PADDING 48

/** What went wrong. Values are stable. */
typedef enum aclshmem_error_code {
  ACLSHMEM_SUCCESS = 0,
  ACLSHMEM_INVALID_PARAM = -1, /**< a null pointer, an unknown flag, a PE outside the job */
  ACLSHMEM_INVALID_VALUE = -2, /**< a number outside its limits */
  ACLSHMEM_SMEM_ERROR = -3,    /**< the system refuses memory or a mapping */
  ACLSHMEM_INNER_ERROR = -4,   /**< a state that does not allow the call; a PE died */
  ACLSHMEM_NOT_INITED = -5,
  ACLSHMEM_BOOTSTRAP_ERROR = -6, /**< the PEs cannot find or do not accept each other */
  ACLSHMEM_TIMEOUT_ERROR = -7,
  ACLSHMEM_MALLOC_FAILED = -8,
  ACLSHMEM_DL_FUNC_FAILED = -9,
  ACLSHMEM_INNER_TIMEOUT = -10,
  ACLSHMEM_UNDER_API_UNLOAD = -11,
  ACLSHMEM_NOT_SUPPORTED = -100
} aclshmem_error_code_t;

/** How the PEs find each other. */
typedef enum aclshmemx_bootstrap {
  ACLSHMEMX_INIT_WITH_DEFAULT = 1,  /**< ip_port if it is an address, else the unique id */
  ACLSHMEMX_INIT_WITH_MPI = 2,      /**< ACLSHMEM_NOT_SUPPORTED */
  ACLSHMEMX_INIT_WITH_UNIQUEID = 8, /**< comm_args points to an aclshmemx_uniqueid_t */
  ACLSHMEMX_INIT_MAX = (int)(1u << 31)
} aclshmemx_bootstrap_t;

typedef enum aclshmemx_init_status_value {
  ACLSHMEM_STATUS_NOT_INITIALIZED = 0,
  ACLSHMEM_STATUS_SHM_CREATED = 1, /**< the heap is there, teams and engines are not */
  ACLSHMEM_STATUS_IS_INITIALIZED = 2,
  ACLSHMEM_STATUS_INVALID = 0x7fffffff
} aclshmemx_init_status_t;

/** Engines that the user asks for; a mask. Choosing one changes no kernel source. */
typedef enum data_op_engine_type {
  ACLSHMEM_DATA_OP_MTE = 1,
  ACLSHMEM_DATA_OP_SDMA = 2,
  ACLSHMEM_DATA_OP_ROCE = 4,
  ACLSHMEM_DATA_OP_UDMA = 8,
  ACLSHMEM_DATA_OP_MAX = 8
} data_op_engine_type_t;

/** How a PE can be reached: bits of its entry in the device state. Not numbered as the engines. */
typedef enum aclshmem_transport {
  ACLSHMEM_TRANSPORT_MTE = 1,
  ACLSHMEM_TRANSPORT_ROCE = 2,
  ACLSHMEM_TRANSPORT_SDMA = 4,
  ACLSHMEM_TRANSPORT_UDMA = 8
} aclshmem_transport_t;

typedef enum aclshmem_mem_type { HOST_SIDE = 0, DEVICE_SIDE = 1 } aclshmem_mem_type_t;

typedef enum aclshmem_signal_op_type {
  ACLSHMEM_SIGNAL_SET = 0,
  ACLSHMEM_SIGNAL_ADD = 1
} aclshmem_signal_op_type_t;

/** word CMP value */
typedef enum aclshmem_cmp_op_type {
  ACLSHMEM_CMP_EQ = 0,
  ACLSHMEM_CMP_NE = 1,
  ACLSHMEM_CMP_GT = 2,
  ACLSHMEM_CMP_GE = 3,
  ACLSHMEM_CMP_LT = 4,
  ACLSHMEM_CMP_LE = 5
} aclshmem_cmp_op_type_t;

typedef enum aclshmem_team_index {
  ACLSHMEM_TEAM_INVALID = -1,
  ACLSHMEM_TEAM_WORLD = 0
} aclshmem_team_index_t;

typedef enum aclshmem_block_mode { NO_NBI = 0, NBI = 1 } aclshmem_block_mode_t;

typedef int aclshmem_team_t;
typedef uint64_t aclshmemx_team_uniqueid_t;
typedef void *aclrtStream; /**< a piton_stream_t*, or NULL for the default stream of device 0 */

/* ---- structures ---------------------------------------------------------------------------- */

typedef struct aclshmem_init_optional_attr {
  int version;                               /**< (1 << 16) + sizeof of this structure */
  data_op_engine_type_t data_op_engine_type; /**< mask */
  uint32_t shm_init_timeout;                 /**< for all PEs to meet */
  uint32_t shm_create_timeout;               /**< for the heaps to be mapped */
  uint32_t control_operation_timeout;        /**< for every later call that waits for other PEs */
  int32_t sockFd; /**< a socket bound to ip_port's port for PE 0 to serve at, which init then owns;
                     or -1 */
} aclshmem_init_optional_attr_t;

typedef struct aclshmemx_init_attr {
  int my_pe;
  int n_pes;
  char ip_port[ACLSHMEM_MAX_IP_PORT_LEN]; /**< "tcp://host:port" or "tcp6://[address]:port" of PE 0,
                                               port above 1024 */
  uint64_t local_mem_size;                /**< of each PE's heap, at most 40 GiB, the same on all */
  aclshmem_init_optional_attr_t option_attr;
  void *comm_args;      /**< aclshmemx_uniqueid_t* for the unique id, else NULL */
  uint64_t instance_id; /**< 0; others are ACLSHMEM_NOT_SUPPORTED */
} aclshmemx_init_attr_t;

#define ACLSHMEM_OPTIONAL_ATTR_DEFAULT                                                             \
  {(1 << 16) + (int)sizeof(aclshmem_init_optional_attr_t),                                         \
   ACLSHMEM_DATA_OP_MTE,                                                                           \
   ACLSHMEM_DEFAULT_TIMEOUT,                                                                       \
   ACLSHMEM_DEFAULT_TIMEOUT,                                                                       \
   ACLSHMEM_DEFAULT_TIMEOUT,                                                                       \
   -1}
#define ACLSHMEMX_INIT_ATTR_DEFAULT {0, 0, "", 0, ACLSHMEM_OPTIONAL_ATTR_DEFAULT, NULL, 0}

/** Names a job; made by one PE, handed to all others as bytes. */
typedef struct aclshmemx_uniqueid {
  int32_t version; /**< (1 << 16) + sizeof of this structure */
  int my_pe;
  int n_pes;
  char internal[ACLSHMEM_UNIQUE_ID_INNER_LEN];
} aclshmemx_uniqueid_t;

typedef struct aclshmem_team_config {
  int32_t version;
  int32_t num_contexts;
  aclshmemx_team_uniqueid_t uniqueid;
  char padding[TEAM_CONFIG_PADDING];
} aclshmem_team_config_t;

/** A team as its members see it. */
typedef struct aclshmemx_team {
  int mype;   /**< this PE's index */
  int start;  /**< PE of the world with index 0 */
  int stride; /**< between PEs of the world */
  int size;
  int team_idx;
  aclshmem_team_config_t config;
  /** By index: PE of the world; from ACLSHMEM_MAX_PES on, by PE of the world: index, -1 for
   * non-members. */
  int32_t pe_mapping[2 * ACLSHMEM_MAX_PES];
} aclshmemx_team_t;

/** Names the team whose transfers aclshmemx_handle_wait waits for. */
typedef struct aclshmem_handle {
  aclshmem_team_t team_id;
} aclshmem_handle_t;

/** A job of several that one process may be in; there is one here, number 0. */
typedef struct aclshmem_instance_ctx {
  uint64_t id;
  void *instance;
} aclshmem_instance_ctx;

/** A synchronisation word with its cache line. */
typedef int32_t aclshmemx_sync_bit[ACLSHMEM_SYNCBIT_SIZE / sizeof(int32_t)];

/** Local memory on a vector core that an engine's call uses. */
typedef struct aclshmem_ub_config {
  int64_t aclshmem_ub; /**< address in UB */
  uint32_t ub_size;    /**< bytes */
  uint32_t sync_id;
} aclshmem_ub_config_t;

/** `repeat` pieces of `length` elements; src_ld and dst_ld elements lie between their starts. */
typedef struct non_contiguous_copy_param {
  uint32_t repeat;
  uint32_t length;
  uint32_t src_ld;
  uint32_t dst_ld;
} non_contiguous_copy_param;

/** Cycles of one block by frame: how often each was counted, and their sum. */
typedef struct aclshmem_prof_block {
  int64_t ccount[ACLSHMEM_CYCLE_PROF_FRAME_CNT];
  int64_t cycles[ACLSHMEM_CYCLE_PROF_FRAME_CNT];
} aclshmem_prof_block_t;

/** Cycle counts of the profiled PE. */
typedef struct aclshmem_prof_pe {
  int32_t pe_id;
  aclshmem_prof_block_t block_prof[ACLSHMEM_CYCLE_PROF_MAX_BLOCK];
} aclshmem_prof_pe_t;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PITON_SHMEM_TYPES_H */
