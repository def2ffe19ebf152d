// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values and layouts of the C API that other programs rely on, the former names, cycle profiles.

#include "test/runtime/shmem/Jobs.h"

#include <gtest/gtest.h>

#include <climits>
#include <cstddef>
#include <cstdlib>

using namespace piton;
using namespace piton::test;

//===-- Constants ---------------------------------------------------------------------------===//

static_assert(ACLSHMEM_MAJOR_VERSION == 1 && ACLSHMEM_MINOR_VERSION == 1);
static_assert(ACLSHMEM_MAX_NAME_LEN == 256 && ACLSHMEM_MAX_IP_PORT_LEN == 64 &&
              ACLSHMEM_UNIQUE_ID_INNER_LEN == 124 && ACLSHMEM_DEFAULT_TIMEOUT == 120);
static_assert(ACLSHMEM_MAX_PES == 16384 && ACLSHMEM_MAX_TEAMS == 2048 &&
              ACLSHMEM_MAX_LOCAL_SIZE == 40ull << 30 && ACLSHMEM_SIGNAL_SIZE == 8);
static_assert(SCALAR_DATA_CACHELINE_SIZE == 64 && L2_CACHELINE_SIZE == 512 &&
              ACLSHMEM_PAGE_SIZE == kHeapPage && ACLSHMEM_HEAP_ALIGNMENT_SIZE == kHeapAlignment);
static_assert(ACLSHMEM_SYNCBIT_SIZE == kSyncSlotBytes && SYNC_LOG_MAX_PES == 5 &&
              ACLSHMEM_BARRIER_TG_DISSEM_KVAL == 8 && SYNC_ARRAY_SIZE == kSyncTeamBytes &&
              SYNC_POOL_SIZE == kSyncPoolBytes && SYNC_COUNTERS_SIZE == kSyncCounterBytes &&
              ACLSHMEM_EXTRA_SIZE == kHeapExtraBytes);
static_assert(ACLSHMEM_MAX_AIV_PER_NPU == kMaxVectorCores &&
              ACLSHMEM_LOG_MAX_AIV_PER_NPU == kCoreSyncRounds &&
              ACLSHMEM_CORE_SYNC_POOL_SIZE == kCoreSyncPoolBytes &&
              ACLSHMEM_CORE_SYNC_COUNTER_SIZE == 64);
static_assert(STARS_NOTIFY_ADDR_OFFSET == 14336 && SDMA_FLAG_LENGTH == 64 &&
              UDMA_MTE_STAGING_UB_SIZE == 128 && RDMA_MTE_STAGING_UB_SIZE == 128);
static_assert(ACLSHMEM_CYCLE_PROF_MAX_BLOCK == kProfileBlocks &&
              ACLSHMEM_CYCLE_PROF_FRAME_CNT == kProfileFrames && TEAM_CONFIG_PADDING == 48);

//===-- Enumerations ------------------------------------------------------------------------===//

static_assert(ACLSHMEM_SUCCESS == 0 && ACLSHMEM_INVALID_PARAM == -1 &&
              ACLSHMEM_INVALID_VALUE == -2 && ACLSHMEM_SMEM_ERROR == -3 &&
              ACLSHMEM_INNER_ERROR == -4 && ACLSHMEM_NOT_INITED == -5 &&
              ACLSHMEM_BOOTSTRAP_ERROR == -6 && ACLSHMEM_TIMEOUT_ERROR == -7 &&
              ACLSHMEM_MALLOC_FAILED == -8 && ACLSHMEM_DL_FUNC_FAILED == -9 &&
              ACLSHMEM_INNER_TIMEOUT == -10 && ACLSHMEM_UNDER_API_UNLOAD == -11 &&
              ACLSHMEM_NOT_SUPPORTED == -100);
static_assert(ACLSHMEMX_INIT_WITH_DEFAULT == 1 && ACLSHMEMX_INIT_WITH_MPI == 2 &&
              ACLSHMEMX_INIT_WITH_UNIQUEID == 8 &&
              static_cast<unsigned>(ACLSHMEMX_INIT_MAX) == 1u << 31);
static_assert(ACLSHMEM_STATUS_NOT_INITIALIZED == 0 && ACLSHMEM_STATUS_SHM_CREATED == 1 &&
              ACLSHMEM_STATUS_IS_INITIALIZED == 2 && ACLSHMEM_STATUS_INVALID == INT_MAX);
static_assert(ACLSHMEM_DATA_OP_MTE == 1 && ACLSHMEM_DATA_OP_SDMA == 2 &&
              ACLSHMEM_DATA_OP_ROCE == 4 && ACLSHMEM_DATA_OP_UDMA == 8 &&
              ACLSHMEM_DATA_OP_MAX == 8);
static_assert(ACLSHMEM_TRANSPORT_MTE == int(kTransportMte) &&
              ACLSHMEM_TRANSPORT_ROCE == int(kTransportRoce) &&
              ACLSHMEM_TRANSPORT_SDMA == int(kTransportSdma) &&
              ACLSHMEM_TRANSPORT_UDMA == int(kTransportUdma));
static_assert(HOST_SIDE == 0 && DEVICE_SIDE == 1 && NO_NBI == 0 && NBI == 1);
static_assert(ACLSHMEM_SIGNAL_SET == int(kSignalSet) && ACLSHMEM_SIGNAL_ADD == int(kSignalAdd));
static_assert(ACLSHMEM_CMP_EQ == 0 && ACLSHMEM_CMP_NE == 1 && ACLSHMEM_CMP_GT == 2 &&
              ACLSHMEM_CMP_GE == 3 && ACLSHMEM_CMP_LT == 4 && ACLSHMEM_CMP_LE == 5);
static_assert(ACLSHMEM_TEAM_INVALID == -1 && ACLSHMEM_TEAM_WORLD == 0);

//===-- Structures --------------------------------------------------------------------------===//

static_assert(sizeof(aclshmem_init_optional_attr_t) == 24);
static_assert(sizeof(aclshmemx_init_attr_t) == 120 && offsetof(aclshmemx_init_attr_t, n_pes) == 4 &&
              offsetof(aclshmemx_init_attr_t, ip_port) == 8 &&
              offsetof(aclshmemx_init_attr_t, local_mem_size) == 72 &&
              offsetof(aclshmemx_init_attr_t, option_attr) == 80 &&
              offsetof(aclshmemx_init_attr_t, comm_args) == 104 &&
              offsetof(aclshmemx_init_attr_t, instance_id) == 112);
static_assert(sizeof(aclshmemx_uniqueid_t) == 136 && sizeof(aclshmem_team_config_t) == 64);
static_assert(sizeof(aclshmemx_team_t) == sizeof(TeamRecord) &&
              offsetof(aclshmemx_team_t, pe_mapping) == offsetof(TeamRecord, toWorld) &&
              offsetof(aclshmemx_team_t, config) == offsetof(TeamRecord, config));
static_assert(sizeof(aclshmem_ub_config_t) == sizeof(BufferConfig) &&
              sizeof(non_contiguous_copy_param) == 16 && sizeof(aclshmem_handle_t) == 4 &&
              sizeof(aclshmem_instance_ctx) == 16 && sizeof(aclshmemx_sync_bit) == 64);
static_assert(sizeof(aclshmem_prof_pe_t) == 1048584 &&
              offsetof(aclshmem_prof_pe_t, block_prof) == 8 &&
              sizeof(aclshmem_prof_block_t) == 16384);
static_assert(sizeof(aclshmem_team_t) == 4 && sizeof(aclshmemx_team_uniqueid_t) == 8);

TEST(Types, Defaults) {
  aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_DEFAULT;
  EXPECT_EQ(attr.option_attr.version, (1 << 16) + 24);
  EXPECT_EQ(attr.option_attr.data_op_engine_type, ACLSHMEM_DATA_OP_MTE);
  EXPECT_EQ(attr.option_attr.shm_init_timeout, 120u);
  EXPECT_EQ(attr.option_attr.shm_create_timeout, 120u);
  EXPECT_EQ(attr.option_attr.control_operation_timeout, 120u);
  EXPECT_EQ(attr.option_attr.sockFd, -1);
  EXPECT_STREQ(attr.ip_port, "");
  EXPECT_EQ(attr.comm_args, nullptr);
  EXPECT_EQ(attr.instance_id, 0u);
}

//===-- Calls that one PE shows -------------------------------------------------------------===//

namespace {

DeviceState &processState() { return *reinterpret_cast<DeviceState *>(kDeviceStateAddress); }

/// Runs `body` as the only PE of a job.
void alone(const std::function<void()> &body) {
  std::string url = freeUrl();
  auto results = runProcesses(1, [&](int) {
    shmemx_set_conf_store_tls(false, "", 0);
    aclshmemx_init_attr_t attr = attributes(0, 1, url);
    EXPECT_EQ(shmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr), 0) << piton_last_error();
    body();
    EXPECT_EQ(shmem_finalize(), 0) << piton_last_error();
    return 0;
  });
  EXPECT_EQ(results[0].exitCode, 0) << results[0].output;
}

} // namespace

TEST(Types, DefaultsOfTheDeviceState) {
  alone([] {
    const DeviceState &state = processState();
    auto is = [](const BufferConfig &config, int64_t kibibytes, uint32_t bytes) {
      return config.address == kibibytes * 1024 && config.bytes == bytes && config.syncId == 0;
    };
    EXPECT_TRUE(is(state.mteConfig, 0, 16 * 1024));
    EXPECT_TRUE(is(state.udmaConfig, 189, 128));
    EXPECT_TRUE(is(state.rdmaConfig, 190, 128));
    EXPECT_TRUE(is(state.sdmaConfig, 191, 64));
    EXPECT_EQ(state.heapBytes, (1u << 20) + kHeapExtraBytes);
    EXPECT_EQ(state.profile, nullptr);
    aclshmem_prof_pe_t *profile = reinterpret_cast<aclshmem_prof_pe_t *>(1);
    aclshmemx_get_prof(&profile, true);
    EXPECT_EQ(profile, nullptr);
    EXPECT_EQ(aclshmemx_last_status(), 0);
  });
}

TEST(Types, OneInstance) {
  EXPECT_EQ(aclshmemx_instance_ctx_get(), nullptr);
  alone([] {
    const aclshmem_instance_ctx *context = aclshmemx_instance_ctx_get();
    ASSERT_NE(context, nullptr);
    EXPECT_EQ(context->id, 0u);
    EXPECT_EQ(aclshmemx_instance_ctx_set(0), 0);
    EXPECT_EQ(aclshmemx_instance_ctx_set(1), ACLSHMEM_NOT_SUPPORTED);
    EXPECT_EQ(aclshmemx_finalize(1), ACLSHMEM_INVALID_PARAM);
    EXPECT_EQ(aclshmemx_init_status(), ACLSHMEM_STATUS_IS_INITIALIZED);
  });
}

TEST(Types, CycleProfile) {
  for (const char *chosen : {"0", "7", "x"}) { // what is no PE stands for 0
    setenv("SHMEM_CYCLE_PROF_PE", chosen, 1);
    alone([] {
      Profile *counted = processState().profile;
      ASSERT_NE(counted, nullptr);
      counted->blocks[2].counts[1023] = 4;
      counted->blocks[2].cycles[1023] = 500;
      aclshmem_prof_pe_t *profile = nullptr;
      testing::internal::CaptureStdout();
      aclshmemx_get_prof(&profile, true);
      EXPECT_EQ(testing::internal::GetCapturedStdout(),
                "BlockID FrameID Cycles Count AvgTime(us)\n2 1023 500 4 2.500\n");
      ASSERT_NE(profile, nullptr);
      EXPECT_EQ(profile->pe_id, 0);
      EXPECT_EQ(profile->block_prof[2].ccount[1023], 4);
      EXPECT_EQ(profile->block_prof[2].cycles[1023], 500);
      testing::internal::CaptureStdout();
      aclshmemx_show_prof();
      EXPECT_NE(testing::internal::GetCapturedStdout().find("2 1023 500 4 2.500"),
                std::string::npos);
      // The counter runs at 50 cycles per microsecond.
      double perTick = static_cast<double>(processState().cyclesPerTick) / 4294967296.0;
      EXPECT_GT(perTick, 50.0 / 10000);
      EXPECT_LT(perTick, 50.0 / 100);
    });
  }
  unsetenv("SHMEM_CYCLE_PROF_PE");
}
