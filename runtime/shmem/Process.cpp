// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Init and finalize of a process: the check of the attributes, and the one World.

#include "runtime/shmem/Process.h"

#include "runtime/Activity.h"
#include "runtime/Runtime.h"
#include "runtime/shmem/Arguments.h"
#include "runtime/shmem/OtherThreads.h"
#include "runtime/shmem/Report.h"
#include "runtime/shmem/Termination.h"
#include "runtime/shmem/Tls.h"
#include "runtime/shmem/UniqueId.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <thread>
#include <unistd.h>

namespace piton::shmem {

namespace {

struct Process {
  std::mutex mutex; ///< init and finalize
  std::unique_ptr<World> owner;
  std::atomic<World *> current{nullptr};
  std::string lastInitFailure;
  TlsSettings tls;
};

/// Never destroyed: calls may come while the process ends.
Process &process() {
  static Process &instance = *[] {
    auto *made = new Process;
    const char *tls = std::getenv("SMEM_CONF_STORE_TLS_ENABLE");
    made->tls.enabled = !tls || std::string_view(tls) != "0";
    return made;
  }();
  return instance;
}

/// A child of a PE is none: it must not keep the PE's connections open, nor use them.
void afterForkInChild() {
  Process &self = process();
  disarmTerminationInChild();
  if (World *world = self.current.exchange(nullptr)) {
    world->abandonInChild();
    (void)self.owner.release(); // its threads are the parent's
  }
}

/// Libraries that the control threads use, such as OpenSSL, are taken down after this.
void atProcessExit() {
  if (World *world = process().current.exchange(nullptr))
    world->endAtExit();
}

int invalid(int code, const std::string &text) {
  return report(code, "aclshmemx_init_attr: " + text);
}

/// A C program may have put any number there, which must not be read as the enumeration.
uint32_t engineMask(const aclshmem_init_optional_attr_t &attr) {
  uint32_t mask;
  static_assert(sizeof(mask) == sizeof(attr.data_op_engine_type));
  std::memcpy(&mask, &attr.data_op_engine_type, sizeof(mask));
  return mask;
}

template <typename T> std::string number(T value) { return std::to_string(value); }

int checkAttributes(const aclshmemx_init_attr_t &attr) {
  const auto &o = attr.option_attr;
  if (attr.n_pes <= 0 || attr.n_pes > ACLSHMEM_MAX_PES)
    return invalid(ACLSHMEM_INVALID_VALUE, "n_pes is " + number(attr.n_pes) + ", allowed is 1 to " +
                                               number(ACLSHMEM_MAX_PES));
  if (attr.my_pe < 0)
    return invalid(ACLSHMEM_INVALID_VALUE, "my_pe is " + number(attr.my_pe));
  if (attr.my_pe >= attr.n_pes)
    return invalid(ACLSHMEM_INVALID_PARAM, "my_pe is " + number(attr.my_pe) + ", the job has " +
                                               number(attr.n_pes) + " PEs, 0 to " +
                                               number(attr.n_pes - 1));
  if (attr.local_mem_size == 0 || attr.local_mem_size > ACLSHMEM_MAX_LOCAL_SIZE)
    return invalid(ACLSHMEM_INVALID_VALUE, "local_mem_size is " + number(attr.local_mem_size) +
                                               " bytes, allowed is 1 byte to 40 GiB");
  if (o.shm_init_timeout == 0 || o.shm_create_timeout == 0 || o.control_operation_timeout == 0)
    return invalid(ACLSHMEM_INVALID_VALUE, "a timeout is 0 s");
  constexpr unsigned known =
      ACLSHMEM_DATA_OP_MTE | ACLSHMEM_DATA_OP_SDMA | ACLSHMEM_DATA_OP_ROCE | ACLSHMEM_DATA_OP_UDMA;
  uint32_t engines = engineMask(o);
  if (engines == 0 || (engines & ~known))
    return invalid(ACLSHMEM_INVALID_VALUE, "data_op_engine_type is " + number(engines) +
                                               ", allowed is a mask of 1 (MTE), 2 (SDMA), 4 (ROCE) "
                                               "and 8 (UDMA)");
  if ((o.version >> 16) != 1)
    return invalid(ACLSHMEM_INVALID_VALUE,
                   "option_attr.version is " + number(o.version) + ", this library has version 1");
  if (attr.instance_id != 0)
    return invalid(ACLSHMEM_NOT_SUPPORTED, "instance_id is " + number(attr.instance_id) +
                                               ", several instances are not supported");
  return ACLSHMEM_SUCCESS;
}

/// Where PE 0 is: the address, or what a unique id says.
int resolveServer(aclshmemx_bootstrap_t flags, const aclshmemx_init_attr_t &attr,
                  WorldOptions &options) {
  if (flags == ACLSHMEMX_INIT_WITH_MPI)
    return invalid(ACLSHMEM_NOT_SUPPORTED, "MPI bootstrap is not supported");
  if (flags != ACLSHMEMX_INIT_WITH_DEFAULT && flags != ACLSHMEMX_INIT_WITH_UNIQUEID)
    return invalid(ACLSHMEM_INVALID_PARAM,
                   "unknown bootstrap flag " + std::to_string(static_cast<unsigned>(flags)));
  std::string url(attr.ip_port, strnlen(attr.ip_port, sizeof(attr.ip_port))), error;
  bool tryUrl = flags == ACLSHMEMX_INIT_WITH_DEFAULT;
  constexpr size_t most = sizeof(attr.ip_port) - 1;
  if (tryUrl && url.size() > most)
    return invalid(ACLSHMEM_INVALID_PARAM, "ip_port has no end within its " + number(most + 1) +
                                               " bytes; an address has at most " + number(most) +
                                               " characters and a null behind them");
  bool byUrl = tryUrl && parseUrl(url, options.server, error);
  if (tryUrl && !byUrl && url.size() == most)
    error += "; it has " + number(most) + " characters, which is all that ip_port holds: was a " +
             "longer address cut off? A shorter host name or its IP address fits";
  if (tryUrl && !byUrl && !attr.comm_args)
    return invalid(ACLSHMEM_INVALID_PARAM, "ip_port " + error);
  if (byUrl) {
    options.serverText = url;
    if (attr.my_pe != 0 || attr.option_attr.sockFd < 0)
      return ACLSHMEM_SUCCESS;
    options.listener = adoptListener(attr.option_attr.sockFd, options.server, error);
    return options.listener ? static_cast<int>(ACLSHMEM_SUCCESS)
                            : invalid(ACLSHMEM_INVALID_VALUE, "sockFd: " + error);
  }
  if (!attr.comm_args)
    return invalid(ACLSHMEM_INVALID_PARAM, "comm_args is null; it must point to the unique id");
  UniqueIdContent id;
  if (int code = checkReadable("aclshmemx_init_attr", "comm_args, the unique id", attr.comm_args,
                               sizeof(aclshmemx_uniqueid_t)))
    return code;
  if (!readUniqueId(*static_cast<const aclshmemx_uniqueid_t *>(attr.comm_args), id, error))
    return invalid(ACLSHMEM_INVALID_PARAM, error);
  options.server = id.address;
  options.serverText = id.address.text();
  options.session = id.session;
  if (attr.my_pe == 0)
    options.listener = takeUniqueIdListener(id.session);
  return ACLSHMEM_SUCCESS;
}

int applyTls(const TlsSettings &tls, WorldOptions &options) {
  if (!tls.enabled)
    return ACLSHMEM_SUCCESS;
  if (tls.info.empty())
    return invalid(
        ACLSHMEM_INVALID_VALUE,
        "TLS is on and there are no certificates. Either name them with "
        "set_conf_store_tls(True, \"tlsCaFile=...;tlsCert=...;tlsPk=...\"), or switch TLS "
        "off with set_conf_store_tls(False, \"\")");
  std::string error;
  if (!makeTls(tls, options.serveChannel, options.makeChannel, error))
    return invalid(ACLSHMEM_INVALID_VALUE, "set_conf_store_tls: " + error);
  options.tls = true;
  return ACLSHMEM_SUCCESS;
}

/// Work is queued or running on a stream of this process.
bool streamsAreBusy() {
  piton_status_t status;
  Runtime *runtime = Runtime::get(status);
  for (int i = 0; runtime && i < runtime->deviceCount(); ++i)
    if (runtime->device(i).isBusy())
      return true;
  return false;
}

/// Lets distributed kernels be launched, or not.
void setHeapReady(bool ready) {
  piton_status_t status;
  Runtime *runtime = Runtime::get(status);
  for (int i = 0; runtime && i < runtime->deviceCount(); ++i)
    runtime->device(i).symmetricHeapReady.store(ready, std::memory_order_release);
}

} // namespace

/// The count rises before the pointer is read, and finalize clears the pointer before it looks at
/// the counts.
WorldRef::WorldRef() : record(&recordOfThread()) {
  record->inCalls.store(record->inCalls.load(std::memory_order_relaxed) + 1);
  world = process().current.load();
}

WorldRef requireWorld(const char *call) {
  clearStatus();
  if (WorldRef world; world)
    return world;
  Process &self = process();
  std::unique_lock lock(self.mutex, std::try_to_lock);
  std::string why = lock && !self.lastInitFailure.empty()
                        ? " (it was tried and failed: " + self.lastInitFailure + ")"
                        : "";
  report(ACLSHMEM_NOT_INITED, std::string(call) +
                                  ": the symmetric heap is not initialised; call "
                                  "aclshmemx_init_attr (Python: aclshmem_init) first" +
                                  why);
  return WorldRef();
}

int initialize(aclshmemx_bootstrap_t flags, aclshmemx_init_attr_t &attr) {
  clearStatus();
  Process &self = process();
  std::lock_guard lock(self.mutex);
  if (self.owner)
    return report(ACLSHMEM_INNER_ERROR, "aclshmemx_init_attr: this process is initialised already; "
                                        "call aclshmem_finalize first");
  static const int forkHandler = pthread_atfork(nullptr, nullptr, afterForkInChild);
  (void)forkHandler;
  WorldOptions options;
  int code = checkAttributes(attr);
  if (!code)
    code = resolveServer(flags, attr, options);
  if (!code)
    code = applyTls(self.tls, options);
  DeviceState *state = code ? nullptr : processDeviceState();
  if (!code && !state)
    code = lastStatus();
  if (std::string error; !code && !checkStandstillSetting(error))
    code = invalid(ACLSHMEM_INVALID_VALUE, error);
  if (!code) {
    options.pe = attr.my_pe;
    options.peCount = attr.n_pes;
    options.heapBytes = attr.local_mem_size;
    options.engines = engineMask(attr.option_attr);
    options.initTimeout = std::chrono::seconds(attr.option_attr.shm_init_timeout);
    options.createTimeout = std::chrono::seconds(attr.option_attr.shm_create_timeout);
    options.callTimeout = std::chrono::seconds(attr.option_attr.control_operation_timeout);
    options.isBusy = streamsAreBusy;
    piton_status_t status = PITON_OK;
    if (Runtime *runtime = Runtime::get(status); runtime && runtime->device(0).model.isA5())
      options.cyclesPerMicrosecond = 1000;
    options.launches = runningLaunches;
    options.isBlocked = [] { return blockedHosts().load() > 0; };
    options.onLoss = noteLoss;
    if (auto limit = standstillLimit(); limit > Clock::duration::zero())
      options.othersAtWork = [threads = std::make_shared<OtherThreads>(limit)] {
        return threads->areAtWork(Clock::now());
      };
    options.terminated = terminationRequested;
    armTermination();
    armInterrupts(); // also for a program that never launches a kernel
    code = World::start(std::move(options), *state, self.owner);
  }
  if (!code)
    armInterrupts(); // again: libraries that init has loaded may handle faults too
  self.lastInitFailure = code ? piton_last_error() : "";
  self.current.store(self.owner.get(), std::memory_order_release);
  if (!code) {
    std::atexit(atProcessExit); // again each time: before what was loaded meanwhile
    setHeapReady(true);
  }
  return code;
}

/// The PE is there until the calls of other threads have ended. Those that wait for other PEs do so
/// as ever, and with this thread they are part of the watch over standstills; streams do not wait
/// any longer.
static void awaitOtherCalls(World &world) {
  Blocked blocked;
  world.endStreamWaits();
  for (auto start = Clock::now(); othersAreInCalls();) {
    if (Clock::now() - start > world.callTimeout() && !world.isLost())
      world.failJob("PE " + std::to_string(world.pe()) + " (pid " + std::to_string(getpid()) +
                    " on " + hostName() +
                    ") called aclshmem_finalize while another thread of it was in a call, which "
                    "did not end");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

int finalize() {
  clearStatus();
  Process &self = process();
  std::lock_guard lock(self.mutex);
  if (!self.owner)
    return ACLSHMEM_SUCCESS;
  if (recordOfThread().inCalls.load() > 0)
    return report(ACLSHMEM_INNER_ERROR, "aclshmem_finalize: it was called from inside another call "
                                        "of the symmetric heap, by a logger or a signal handler");
  setHeapReady(false);
  self.current.store(nullptr);
  awaitOtherCalls(*self.owner);
  int code = self.owner->finish();
  if (!code)
    disarmTermination();
  self.owner.reset();
  return code;
}

int initStatus() {
  const DeviceState *state = processDeviceStateOrNull();
  if (!currentWorld() || !state)
    return ACLSHMEM_STATUS_NOT_INITIALIZED;
  return __atomic_load_n(&state->initialized, __ATOMIC_ACQUIRE) ? ACLSHMEM_STATUS_IS_INITIALIZED
                                                                : ACLSHMEM_STATUS_SHM_CREATED;
}

int setTls(bool enable, std::string info) {
  Process &self = process();
  std::lock_guard lock(self.mutex);
  self.tls.enabled = enable;
  self.tls.info = std::move(info);
  return ACLSHMEM_SUCCESS;
}

int setTlsKey(std::string key, std::string password, aclshmem_decrypt_handler decrypt) {
  Process &self = process();
  std::lock_guard lock(self.mutex);
  self.tls.key = std::move(key);
  self.tls.password = std::move(password);
  self.tls.decrypt = decrypt;
  return ACLSHMEM_SUCCESS;
}

} // namespace piton::shmem
