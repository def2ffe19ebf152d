// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C entry points of include/piton/shmem.h: start and end, memory, identity. Nothing throws out of
// here.

#include "runtime/shmem/Arguments.h"
#include "runtime/shmem/Process.h"
#include "runtime/shmem/Report.h"
#include "runtime/shmem/UniqueId.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

using namespace piton;
using namespace piton::shmem;

namespace {

/// Runs `body`; no memory becomes a code.
template <typename Body> int guarded(Body &&body) {
  try {
    return body();
  } catch (const std::exception &error) {
    return report(ACLSHMEM_INNER_ERROR, error.what());
  }
}

std::string spell(const char *name, size_t bytes) {
  return std::string(name) + "(" + std::to_string(bytes) + " bytes)";
}

void *allocate(const char *name, std::string call, size_t bytes, size_t alignment,
               aclshmem_mem_type_t type, bool cleared = false) {
  WorldRef world = requireWorld(name);
  if (!world)
    return nullptr;
  void *out = nullptr;
  guarded([&] {
    out = world->allocate(call, bytes, alignment, type, cleared);
    return 0;
  });
  return out;
}

void *allocateCleared(const char *name, size_t count, size_t size, aclshmem_mem_type_t type) {
  size_t bytes = 0;
  bool overflow = __builtin_mul_overflow(count, size, &bytes);
  std::string call =
      std::string(name) + "(" + std::to_string(count) + " x " + std::to_string(size) + " bytes)";
  // An overflow is a size that never fits, on every PE.
  return allocate(name, call, overflow ? SIZE_MAX : bytes, HeapAllocator::kGrain, type, true);
}

void *allocateAligned(const char *name, size_t alignment, size_t size, aclshmem_mem_type_t type) {
  return allocate(name,
                  std::string(name) + "(alignment " + std::to_string(alignment) + ", " +
                      std::to_string(size) + " bytes)",
                  size, alignment, type);
}

void release(const char *name, void *pointer, aclshmem_mem_type_t type) {
  WorldRef world = requireWorld(name);
  if (world && pointer)
    guarded([&] { return world->free(name, pointer, type); });
}

} // namespace

//===-- Start and end -----------------------------------------------------------------------===//

int32_t aclshmemx_set_conf_store_tls(bool enable, const char *info, uint32_t length) {
  clearStatus();
  if (int code = length ? checkReadable(__func__, "info", info, length) : 0)
    return code;
  return guarded([&] { return setTls(enable, std::string(info ? info : "", length)); });
}

int32_t aclshmemx_set_config_store_tls_key(const char *key, const uint32_t key_length,
                                           const char *password, const uint32_t password_length,
                                           const aclshmem_decrypt_handler decrypt) {
  clearStatus();
  if (int code = key_length ? checkReadable(__func__, "the key", key, key_length) : 0)
    return code;
  if (int code =
          password_length ? checkReadable(__func__, "the password", password, password_length) : 0)
    return code;
  return guarded([&] {
    return setTlsKey(std::string(key ? key : "", key_length),
                     std::string(password ? password : "", password_length), decrypt);
  });
}

int aclshmemx_get_uniqueid(aclshmemx_uniqueid_t *uid) {
  clearStatus();
  if (int code = checkWritable(__func__, "uid", uid, sizeof(*uid)))
    return code;
  return guarded([&] { return makeUniqueId(*uid); });
}

int aclshmemx_set_attr_uniqueid_args(int my_pe, int n_pes, int64_t local_mem_size,
                                     aclshmemx_uniqueid_t *uid, aclshmemx_init_attr_t *attr) {
  clearStatus();
  if (int code = checkReadable(__func__, "uid", uid, sizeof(*uid)))
    return code;
  if (int code = checkWritable(__func__, "attr", attr, sizeof(*attr)))
    return code;
  if (local_mem_size <= 0 || static_cast<uint64_t>(local_mem_size) > ACLSHMEM_MAX_LOCAL_SIZE ||
      n_pes > ACLSHMEM_MAX_PES || my_pe >= ACLSHMEM_MAX_PES)
    return report(ACLSHMEM_INVALID_VALUE,
                  "aclshmemx_set_attr_uniqueid_args: my_pe " + std::to_string(my_pe) + ", n_pes " +
                      std::to_string(n_pes) + ", local_mem_size " + std::to_string(local_mem_size) +
                      "; allowed are 16384 PEs, and 1 byte to 40 GiB");
  attr->my_pe = my_pe;
  attr->n_pes = n_pes;
  attr->local_mem_size = static_cast<uint64_t>(local_mem_size);
  attr->comm_args = uid;
  return ACLSHMEM_SUCCESS;
}

int aclshmemx_init_attr(aclshmemx_bootstrap_t flags, aclshmemx_init_attr_t *attr) {
  clearStatus();
  if (int code = checkReadable(__func__, "attr", attr, sizeof(*attr)))
    return code;
  return guarded([&] { return initialize(flags, *attr); });
}

int aclshmemx_init_status(void) { return initStatus(); }

int aclshmem_finalize(void) {
  return guarded([] { return finalize(); });
}

int aclshmemx_finalize(uint64_t instance_id) {
  if (instance_id == 0)
    return aclshmem_finalize();
  clearStatus();
  return report(ACLSHMEM_INVALID_PARAM,
                "aclshmemx_finalize: there is no instance " + std::to_string(instance_id));
}

aclshmem_instance_ctx *aclshmemx_instance_ctx_get(void) {
  static aclshmem_instance_ctx only = {};
  clearStatus();
  WorldRef world = currentWorld();
  __atomic_store_n(&only.instance, static_cast<void *>(world.get()), __ATOMIC_RELAXED);
  return world ? &only : nullptr;
}

int aclshmemx_instance_ctx_set(uint64_t instance_id) {
  clearStatus();
  if (instance_id == 0)
    return ACLSHMEM_SUCCESS;
  return report(ACLSHMEM_NOT_SUPPORTED, "aclshmemx_instance_ctx_set: instance_id is " +
                                            std::to_string(instance_id) +
                                            ", several instances are not supported");
}

void aclshmem_global_exit(int status) {
  WorldRef world = currentWorld();
  if (!world)
    return log(LogLevel::Warning, "aclshmem_global_exit before init ends nothing");
  guarded([&] {
    world->exitAll(status);
    return 0;
  });
  // The answer ends this process too; this is for a PE 0 that is gone.
  std::this_thread::sleep_for(std::chrono::seconds(2));
  std::exit(status);
}

void aclshmem_info_get_version(int *major, int *minor) {
  if (checkWritable(__func__, "major", major, sizeof(*major)) ||
      checkWritable(__func__, "minor", minor, sizeof(*minor)))
    return;
  *major = ACLSHMEM_MAJOR_VERSION;
  *minor = ACLSHMEM_MINOR_VERSION;
}

void aclshmem_info_get_name(char *name) {
  if (checkWritable(__func__, "name", name, ACLSHMEM_MAX_NAME_LEN))
    return;
  std::snprintf(name, ACLSHMEM_MAX_NAME_LEN, "%s", ACLSHMEM_VENDOR_STRING);
}

int aclshmemx_last_status(void) { return lastStatus(); }

void aclshmemx_clear_status(void) { clearStatus(); }

int32_t aclshmemx_set_log_level(int level) { return setLogLevel(level); }

int32_t aclshmemx_set_extern_logger(void (*logger)(int, const char *)) {
  setExternLogger(logger);
  return ACLSHMEM_SUCCESS;
}

//===-- Memory ------------------------------------------------------------------------------===//

void *aclshmem_malloc(size_t size) {
  return allocate(__func__, spell(__func__, size), size, HeapAllocator::kGrain, DEVICE_SIDE);
}
void *aclshmem_calloc(size_t count, size_t size) {
  return allocateCleared(__func__, count, size, DEVICE_SIDE);
}
void *aclshmem_align(size_t alignment, size_t size) {
  return allocateAligned(__func__, alignment, size, DEVICE_SIDE);
}
void aclshmem_free(void *pointer) { release(__func__, pointer, DEVICE_SIDE); }

void *aclshmemx_malloc(size_t size, aclshmem_mem_type_t type) {
  return allocate(__func__, spell(__func__, size), size, HeapAllocator::kGrain, type);
}
void *aclshmemx_calloc(size_t count, size_t size, aclshmem_mem_type_t type) {
  return allocateCleared(__func__, count, size, type);
}
void *aclshmemx_align(size_t alignment, size_t size, aclshmem_mem_type_t type) {
  return allocateAligned(__func__, alignment, size, type);
}
void aclshmemx_free(void *pointer, aclshmem_mem_type_t type) { release(__func__, pointer, type); }

void *aclshmemx_get_heap_base(aclshmem_mem_type_t type) {
  WorldRef world = requireWorld(__func__);
  if (!world)
    return nullptr;
  const DeviceState &state = world->deviceState();
  void *base = type == DEVICE_SIDE ? state.heapBase : state.hostHeapBase;
  if (!base)
    report(ACLSHMEM_INVALID_PARAM, "aclshmemx_get_heap_base: there is no host-side heap; the first "
                                   "aclshmemx_malloc of HOST_SIDE memory makes it");
  return base;
}

void *aclshmem_ptr(void *pointer, int pe) {
  WorldRef world = requireWorld(__func__);
  void *out = nullptr;
  if (world)
    guarded([&] {
      out = world->translate("aclshmem_ptr", pointer, pe);
      return 0;
    });
  return out;
}

//===-- Identity ----------------------------------------------------------------------------===//

int aclshmem_my_pe(void) {
  WorldRef world = currentWorld();
  return world ? world->pe() : -1;
}

int aclshmem_n_pes(void) {
  WorldRef world = currentWorld();
  return world ? world->peCount() : -1;
}

uint64_t util_get_ffts_config(void) { return 0; }

//===-- Cycle profiles ----------------------------------------------------------------------===//

static_assert(sizeof(aclshmem_prof_pe_t) == sizeof(Profile) &&
              offsetof(aclshmem_prof_pe_t, block_prof) == offsetof(Profile, blocks) &&
              offsetof(aclshmem_prof_block_t, cycles) == offsetof(ProfileBlock, cycles));

void aclshmemx_get_prof(aclshmem_prof_pe_t **out, bool verbose) {
  static Profile copy; // what *out points to
  static std::mutex &mutex = *new std::mutex;
  clearStatus();
  if (out && checkWritable(__func__, "out", out, sizeof(*out)))
    return;
  if (out)
    *out = nullptr;
  WorldRef world = requireWorld(__func__);
  if (!world)
    return;
  guarded([&] {
    std::lock_guard lock(mutex);
    std::string text;
    if (!world->readProfile(out ? &copy : nullptr, verbose ? &text : nullptr))
      return 0;
    if (out)
      *out = reinterpret_cast<aclshmem_prof_pe_t *>(&copy);
    std::fputs(text.c_str(), stdout);
    return std::fflush(stdout);
  });
}

void aclshmemx_show_prof(void) { aclshmemx_get_prof(nullptr, true); }
