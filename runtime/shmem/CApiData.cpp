// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C entry points of include/piton/shmem.h: teams, data, signals, waits, barriers, streams. The
// typed families come from two macros at the end.

#include "runtime/Runtime.h"
#include "runtime/shmem/Arguments.h"
#include "runtime/shmem/Process.h"
#include "runtime/shmem/Report.h"

#include <cstring>

using namespace piton;
using namespace piton::shmem;

namespace {

/// Calls body(world) with this process's PE; without one, that is reported.
template <typename Body> int withWorld(const char *call, Body &&body) {
  WorldRef world = requireWorld(call);
  if (!world)
    return lastStatus();
  try {
    return body(*world);
  } catch (const std::exception &error) {
    return report(ACLSHMEM_INNER_ERROR, std::string(call) + ": " + error.what());
  }
}

int putThenSignal(const char *call, void *dst, const void *src, size_t bytes, void *sig,
                  int32_t signal, int op, int pe, bool blocking) {
  return withWorld(call, [&](World &world) {
    return world.putSignal(call, dst, src, bytes, pe, blocking, static_cast<int32_t *>(sig), signal,
                           op);
  });
}

int put(const char *call, void *dst, const void *src, size_t bytes, int pe, bool blocking) {
  return withWorld(call,
                   [&](World &world) { return world.put(call, dst, src, bytes, pe, blocking); });
}

int get(const char *call, void *dst, const void *src, size_t bytes, int pe, bool blocking) {
  return withWorld(call,
                   [&](World &world) { return world.get(call, dst, src, bytes, pe, blocking); });
}

bool isStream(aclrtStream stream) {
  piton_status_t status;
  Runtime *runtime = Runtime::get(status);
  for (int i = 0; runtime && i < runtime->deviceCount(); ++i)
    if (runtime->device(i).hasStream(static_cast<Stream *>(stream)))
      return true;
  return false;
}

/// Runs `body` in stream order; its failure becomes the stream's.
template <typename Body> void onStream(const char *call, aclrtStream stream, Body body) {
  withWorld(call, [&](World &world) {
    piton_status_t status = PITON_OK;
    Runtime *runtime = stream ? nullptr : Runtime::get(status);
    if (!stream && !runtime)
      return report(ACLSHMEM_INNER_ERROR, piton_last_error());
    if (stream && !isStream(stream))
      return report(ACLSHMEM_INVALID_PARAM,
                    std::string(call) + ": the stream is none of this process's streams; it is a "
                                        "piton_stream_t*, or null for the default stream");
    Stream &target = stream ? *static_cast<Stream *>(stream) : runtime->device(0).defaultStream();
    // Not on the caller's thread: it may wait for what its caller does next.
    // Of the same job: streams may be behind when it ends, and another one begins.
    status = target.enqueue([job = world.jobNumber, call, body] {
      WorldRef now = requireWorld(call);
      int code = !now ? lastStatus()
                 : now->jobNumber == job
                     ? body(*now)
                     : report(ACLSHMEM_INNER_ERROR,
                              std::string(call) + ": the job that it was queued in has ended; "
                                                  "synchronise streams before aclshmem_finalize");
      return code == ACLSHMEM_SUCCESS ? PITON_OK : PITON_ERROR_SYSTEM;
    });
    return status == PITON_OK ? ACLSHMEM_SUCCESS : report(ACLSHMEM_INNER_ERROR, piton_last_error());
  });
}

/// A barrier of the host. It comes after the kernels of the default streams, as on hardware, where
/// it is a kernel of that stream; barriers inside those kernels count in the same words.
int hostBarrier(const char *call, aclshmem_team_t team) {
  return withWorld(call, [&](World &world) {
    piton_status_t status = PITON_OK;
    Runtime *runtime = Runtime::get(status);
    for (int i = 0; runtime && i < runtime->deviceCount(); ++i)
      if (Device &device = runtime->device(i); device.isBusy())
        if (device.defaultStream().synchronize() != PITON_OK)
          return report(ACLSHMEM_INNER_ERROR,
                        std::string(call) + ": a kernel before it failed: " + piton_last_error());
    return world.barrier(call, team);
  });
}

} // namespace

//===-- Teams -------------------------------------------------------------------------------===//

int aclshmem_team_my_pe(aclshmem_team_t team) {
  WorldRef world = currentWorld();
  TeamRecord *record = world ? world->team(team) : nullptr;
  return record ? record->myPe : -1;
}

int aclshmem_team_n_pes(aclshmem_team_t team) {
  WorldRef world = currentWorld();
  TeamRecord *record = world ? world->team(team) : nullptr;
  return record ? record->size : -1;
}

int aclshmem_team_split_strided(aclshmem_team_t parent, int pe_start, int pe_stride, int pe_size,
                                aclshmem_team_t *new_team) {
  clearStatus();
  if (int code = checkWritable(__func__, "new_team", new_team, sizeof(*new_team)))
    return code;
  *new_team = ACLSHMEM_TEAM_INVALID;
  return withWorld(__func__, [&](World &world) {
    return world.splitStrided("aclshmem_team_split_strided", parent, pe_start, pe_stride, pe_size,
                              *new_team);
  });
}

int aclshmem_team_split_2d(aclshmem_team_t parent, int x_range, aclshmem_team_t *x_team,
                           aclshmem_team_t *y_team) {
  clearStatus();
  if (int code = checkWritable(__func__, "x_team", x_team, sizeof(*x_team)))
    return code;
  if (int code = checkWritable(__func__, "y_team", y_team, sizeof(*y_team)))
    return code;
  *x_team = *y_team = ACLSHMEM_TEAM_INVALID;
  return withWorld(__func__, [&](World &world) {
    return world.split2d("aclshmem_team_split_2d", parent, x_range, *x_team, *y_team);
  });
}

int aclshmem_team_translate_pe(aclshmem_team_t src_team, int src_pe, aclshmem_team_t dest_team) {
  WorldRef world = currentWorld();
  return world ? world->translatePe(src_team, src_pe, dest_team) : -1;
}

void aclshmem_team_destroy(aclshmem_team_t team) {
  withWorld(__func__,
            [&](World &world) { return world.destroyTeam("aclshmem_team_destroy", team); });
}

int aclshmem_team_get_config(aclshmem_team_t team, aclshmem_team_config_t *config) {
  clearStatus();
  if (int code = checkWritable(__func__, "config", config, sizeof(*config)))
    return code;
  return withWorld(__func__, [&](World &world) {
    TeamRecord *record = world.team(team);
    if (!record)
      return report(ACLSHMEM_INVALID_PARAM,
                    "aclshmem_team_get_config: this PE has no team " + std::to_string(team));
    static_assert(sizeof(*config) == sizeof(record->config));
    std::memcpy(config, &record->config, sizeof(*config));
    return static_cast<int>(ACLSHMEM_SUCCESS);
  });
}

//===-- Data --------------------------------------------------------------------------------===//

void aclshmem_putmem(void *dst, void *src, size_t bytes, int32_t pe) {
  put(__func__, dst, src, bytes, pe, true);
}
void aclshmem_getmem(void *dst, void *src, size_t bytes, int32_t pe) {
  get(__func__, dst, src, bytes, pe, true);
}
void aclshmem_putmem_nbi(void *dst, void *src, size_t bytes, int32_t pe) {
  put(__func__, dst, src, bytes, pe, false);
}
void aclshmem_getmem_nbi(void *dst, void *src, size_t bytes, int32_t pe) {
  get(__func__, dst, src, bytes, pe, false);
}
void aclshmemx_putmem_signal(void *dst, void *src, size_t bytes, void *sig_addr, int32_t signal,
                             int sig_op, int pe) {
  putThenSignal(__func__, dst, src, bytes, sig_addr, signal, sig_op, pe, true);
}
void aclshmemx_putmem_signal_nbi(void *dst, void *src, size_t bytes, void *sig_addr, int32_t signal,
                                 int sig_op, int pe) {
  putThenSignal(__func__, dst, src, bytes, sig_addr, signal, sig_op, pe, false);
}

void aclshmem_fence(void) {
  withWorld(__func__, [](World &world) { return world.fence(); });
}
void aclshmem_quiet(void) {
  withWorld(__func__, [](World &world) { return world.quiet(); });
}

#define DEFINE_TYPED(name, T)                                                                      \
  void aclshmem_##name##_put(T *dest, T *source, size_t n, int pe) {                               \
    put(__func__, dest, source, bytesOf(n, sizeof(T)), pe, true);                                  \
  }                                                                                                \
  void aclshmem_##name##_get(T *dest, T *source, size_t n, int pe) {                               \
    get(__func__, dest, source, bytesOf(n, sizeof(T)), pe, true);                                  \
  }                                                                                                \
  void aclshmem_##name##_put_nbi(T *dest, T *source, size_t n, int pe) {                           \
    put(__func__, dest, source, bytesOf(n, sizeof(T)), pe, false);                                 \
  }                                                                                                \
  void aclshmem_##name##_get_nbi(T *dest, T *source, size_t n, int pe) {                           \
    get(__func__, dest, source, bytesOf(n, sizeof(T)), pe, false);                                 \
  }                                                                                                \
  void aclshmem_##name##_iput(T *dest, T *source, ptrdiff_t dst, ptrdiff_t sst, size_t n,          \
                              int pe) {                                                            \
    withWorld(__func__, [&](World &world) {                                                        \
      constexpr ptrdiff_t size = sizeof(T);                                                        \
      return world.putStrided("aclshmem_" #name "_iput", dest, source,                             \
                              {strideBytes(dst, size), strideBytes(sst, size)}, sizeof(T), n, pe); \
    });                                                                                            \
  }                                                                                                \
  void aclshmem_##name##_iget(T *dest, T *source, ptrdiff_t dst, ptrdiff_t sst, size_t n,          \
                              int pe) {                                                            \
    withWorld(__func__, [&](World &world) {                                                        \
      constexpr ptrdiff_t size = sizeof(T);                                                        \
      return world.getStrided("aclshmem_" #name "_iget", dest, source,                             \
                              {strideBytes(sst, size), strideBytes(dst, size)}, sizeof(T), n, pe); \
    });                                                                                            \
  }                                                                                                \
  void aclshmem_##name##_p(T *dst, const T value, int pe) {                                        \
    withWorld(__func__, [&](World &world) {                                                        \
      return world.putOne("aclshmem_" #name "_p", dst, &value, sizeof(T), pe);                     \
    });                                                                                            \
  }                                                                                                \
  T aclshmem_##name##_g(T *src, int32_t pe) {                                                      \
    T out = {};                                                                                    \
    withWorld(__func__, [&](World &world) {                                                        \
      return world.getOne("aclshmem_" #name "_g", &out, src, sizeof(T), pe);                       \
    });                                                                                            \
    return out;                                                                                    \
  }                                                                                                \
  void aclshmem_##name##_put_signal(T *dst, T *src, size_t n, uint8_t *sig, int32_t signal,        \
                                    int op, int pe) {                                              \
    putThenSignal(__func__, dst, src, bytesOf(n, sizeof(T)), sig, signal, op, pe, true);           \
  }                                                                                                \
  void aclshmem_##name##_put_signal_nbi(T *dst, T *src, size_t n, uint8_t *sig, int32_t signal,    \
                                        int op, int pe) {                                          \
    putThenSignal(__func__, dst, src, bytesOf(n, sizeof(T)), sig, signal, op, pe, false);          \
  }
ACLSHMEM_RMA_TYPES(DEFINE_TYPED)

#define DEFINE_SIZED(BITS)                                                                         \
  void aclshmem_put##BITS(void *dst, void *src, uint32_t n, int32_t pe) {                          \
    put(__func__, dst, src, bytesOf(n, BITS / 8), pe, true);                                       \
  }                                                                                                \
  void aclshmem_get##BITS(void *dst, void *src, uint32_t n, int32_t pe) {                          \
    get(__func__, dst, src, bytesOf(n, BITS / 8), pe, true);                                       \
  }                                                                                                \
  void aclshmem_put##BITS##_nbi(void *dst, void *src, uint32_t n, int32_t pe) {                    \
    put(__func__, dst, src, bytesOf(n, BITS / 8), pe, false);                                      \
  }                                                                                                \
  void aclshmem_get##BITS##_nbi(void *dst, void *src, uint32_t n, int32_t pe) {                    \
    get(__func__, dst, src, bytesOf(n, BITS / 8), pe, false);                                      \
  }                                                                                                \
  void aclshmem_iput##BITS(void *dest, void *source, ptrdiff_t dst, ptrdiff_t sst, size_t n,       \
                           int pe) {                                                               \
    withWorld(__func__, [&](World &world) {                                                        \
      return world.putStrided("aclshmem_iput" #BITS, dest, source,                                 \
                              {strideBytes(dst, BITS / 8), strideBytes(sst, BITS / 8)}, BITS / 8,  \
                              n, pe);                                                              \
    });                                                                                            \
  }                                                                                                \
  void aclshmem_iget##BITS(void *dest, void *source, ptrdiff_t dst, ptrdiff_t sst, size_t n,       \
                           int pe) {                                                               \
    withWorld(__func__, [&](World &world) {                                                        \
      return world.getStrided("aclshmem_iget" #BITS, dest, source,                                 \
                              {strideBytes(sst, BITS / 8), strideBytes(dst, BITS / 8)}, BITS / 8,  \
                              n, pe);                                                              \
    });                                                                                            \
  }                                                                                                \
  void aclshmem_put##BITS##_signal(void *dst, void *src, size_t n, int32_t *sig, int32_t signal,   \
                                   int op, int pe) {                                               \
    putThenSignal(__func__, dst, src, bytesOf(n, BITS / 8), sig, signal, op, pe, true);            \
  }                                                                                                \
  void aclshmem_put##BITS##_signal_nbi(void *dst, void *src, size_t n, int32_t *sig,               \
                                       int32_t signal, int op, int pe) {                           \
    putThenSignal(__func__, dst, src, bytesOf(n, BITS / 8), sig, signal, op, pe, false);           \
  }
ACLSHMEM_RMA_BITS(DEFINE_SIZED)

//===-- Barriers ----------------------------------------------------------------------------===//

void aclshmem_barrier(aclshmem_team_t team) { hostBarrier(__func__, team); }
void aclshmem_barrier_all(void) { hostBarrier(__func__, kTeamWorld); }
void aclshmem_sync(aclshmem_team_t team) { hostBarrier(__func__, team); }
void aclshmem_sync_all(void) { hostBarrier(__func__, kTeamWorld); }

//===-- Streams -----------------------------------------------------------------------------===//

void aclshmemx_putmem_on_stream(void *dst, void *src, size_t bytes, int32_t pe,
                                aclrtStream stream) {
  onStream(__func__, stream, [=](World &world) {
    return world.put("aclshmemx_putmem_on_stream", dst, src, bytes, pe, true);
  });
}
void aclshmemx_getmem_on_stream(void *dst, void *src, size_t bytes, int32_t pe,
                                aclrtStream stream) {
  onStream(__func__, stream, [=](World &world) {
    return world.get("aclshmemx_getmem_on_stream", dst, src, bytes, pe, true);
  });
}
void aclshmemx_quiet_on_stream(aclrtStream stream) {
  onStream(__func__, stream, [](World &world) { return world.quiet(); });
}
void aclshmemx_signal_op_on_stream(int32_t *sig_addr, int32_t signal, int sig_op, int pe,
                                   aclrtStream stream) {
  onStream(__func__, stream, [=](World &world) {
    return world.signal("aclshmemx_signal_op_on_stream", sig_addr, signal, sig_op, pe);
  });
}
void aclshmemx_signal_wait_until_on_stream(int32_t *sig_addr, int cmp, int32_t cmp_val,
                                           aclrtStream stream) {
  onStream(__func__, stream, [=](World &) {
    clearStatus();
    aclshmem_signal_wait_until(sig_addr, cmp, cmp_val);
    return lastStatus();
  });
}
void aclshmemx_barrier_on_stream(aclshmem_team_t team, aclrtStream stream) {
  onStream(__func__, stream,
           [=](World &world) { return world.barrier("aclshmemx_barrier_on_stream", team); });
}
void aclshmemx_barrier_all_on_stream(aclrtStream stream) {
  onStream(__func__, stream, [](World &world) {
    return world.barrier("aclshmemx_barrier_all_on_stream", kTeamWorld);
  });
}
void aclshmemx_handle_wait(aclshmem_handle_t handle, aclrtStream stream) {
  if (WorldRef world = currentWorld(); world && !world->team(handle.team_id))
    return;
  onStream(__func__, stream,
           [=](World &world) { return world.barrier("aclshmemx_handle_wait", handle.team_id); });
}

//===-- Engine buffers ----------------------------------------------------------------------===//

static int configure(const char *call, BufferConfig DeviceState::*which, uint32_t least,
                     uint64_t offset, uint32_t bytes, uint32_t syncId) {
  constexpr uint64_t kUbBytes = 192 * 1024;
  return withWorld(call, [&](World &world) {
    if (bytes < least || offset > kUbBytes || bytes > kUbBytes - offset)
      return report(ACLSHMEM_INVALID_VALUE,
                    std::string(call) + ": " + std::to_string(bytes) + " bytes at offset " +
                        std::to_string(offset) + "; at least " + std::to_string(least) +
                        " bytes are needed, within the " + std::to_string(kUbBytes) + " of UB");
    world.deviceState().*which = {static_cast<int64_t>(offset), bytes, syncId};
    return static_cast<int>(ACLSHMEM_SUCCESS);
  });
}

int aclshmemx_set_mte_config(uint64_t ub_offset, uint32_t ub_size, uint32_t sync_id) {
  return configure(__func__, &DeviceState::mteConfig, 32, ub_offset, ub_size, sync_id);
}
int aclshmemx_set_sdma_config(uint64_t ub_offset, uint32_t ub_size, uint32_t sync_id) {
  return configure(__func__, &DeviceState::sdmaConfig, 64, ub_offset, ub_size, sync_id);
}
int aclshmemx_set_rdma_config(uint64_t ub_offset, uint32_t ub_size, uint32_t sync_id) {
  return configure(__func__, &DeviceState::rdmaConfig, 128, ub_offset, ub_size, sync_id);
}
int aclshmemx_set_udma_config(uint64_t ub_offset, uint32_t ub_size, uint32_t sync_id) {
  return configure(__func__, &DeviceState::udmaConfig, 128, ub_offset, ub_size, sync_id);
}
