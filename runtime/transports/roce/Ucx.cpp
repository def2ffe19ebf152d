// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ROCE transport on UCX: one worker per PE, one endpoint per peer, the heap registered once.
// Software transports move data only while the target's worker makes progress, so a thread does
// nothing else. One mutex guards the worker.

#include "runtime/transports/roce/Roce.h"

#include "runtime/shmem/ServiceThread.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <thread>
#include <ucp/api/ucp.h>
#include <unistd.h>

namespace piton::shmem {

namespace {

// Codes of piton/shmem.h, which this library does not link to.
constexpr int kFailed = -3, kTimeout = -7, kUnsupported = -100;
constexpr std::chrono::seconds kPatience{30};

/// Words that signals are sent from; one is used again after a flush at the latest.
constexpr size_t kStaging = 1024;

struct Peer {
  std::string workerAddress, packedKey;
  uint64_t heapBase = 0;
  ucp_ep_h endpoint = nullptr;
  ucp_rkey_h key = nullptr;
  ucs_status_t broken = UCS_OK; ///< the connection is lost
};

template <typename T> void append(std::string &out, T value) {
  out.append(reinterpret_cast<const char *>(&value), sizeof(value));
}

template <typename T> bool take(const std::string &in, size_t &at, T &out) {
  if (in.size() - at < sizeof(T))
    return false;
  std::memcpy(&out, in.data() + at, sizeof(T));
  at += sizeof(T);
  return true;
}

bool takeText(const std::string &in, size_t &at, std::string &out) {
  uint64_t size = 0;
  if (!take(in, at, size) || in.size() - at < size)
    return false;
  out = in.substr(at, size);
  at += size;
  return true;
}

class UcxTransport final : public RoceTransport {
public:
  explicit UcxTransport(const RoceSetup &setup) : setup(setup) {}
  ~UcxTransport() override;
  bool open();
  void stopThread();

  const char *name() const override { return "ROCE"; }
  std::string address() override;
  int connect(const std::vector<std::string> &addresses) override;
  int put(const Transfer &transfer) override;
  int get(const Transfer &transfer) override;
  int signal(const SignalRequest &request) override;
  int fence(int pe) override;
  int quiet(int pe) override;

private:
  int fail(const char *what, ucs_status_t status) {
    std::string text = std::string("ROCE: ") + what + ": " + ucs_status_string(status);
    return setup.report(status == UCS_ERR_TIMED_OUT ? kTimeout : kFailed, text.c_str());
  }
  int failPe(const char *what, int pe, ucs_status_t status) {
    return fail((std::string(what) + " PE " + std::to_string(pe)).c_str(), status);
  }
  bool check(const char *what, ucs_status_t status) {
    return status == UCS_OK || (fail(what, status), false);
  }
  void run();
  void wake();
  int endpointOf(int pe, bool hostHeap, Peer *&out); ///< under the mutex
  template <typename Start> int move(const char *what, const Transfer &transfer, Start start);
  int started(const char *what, int pe, ucs_status_ptr_t request);
  int finish(std::unique_lock<std::mutex> &lock, const char *what, ucs_status_ptr_t request);

  RoceSetup setup;
  ucp_context_h context = nullptr;
  ucp_worker_h worker = nullptr;
  ucp_mem_h memory = nullptr;
  std::vector<Peer> peers;
  std::mutex mutex;
  int wakeFd = -1, workerFd = -1;
  std::atomic<bool> stopping{false};
  std::atomic<int> callers{0}; ///< threads that want the mutex
  std::thread thread;
  uint64_t staging[kStaging] = {};
  size_t staged = 0;
};

/// Transports with a running thread, which must stand still before UCX is taken down at exit. Never
/// freed.
struct Live {
  std::mutex mutex;
  std::vector<UcxTransport *> transports;
};
void stopAllAtExit();
Live &live() {
  static Live &instance = *[] {
    std::atexit(stopAllAtExit);
    return new Live;
  }();
  return instance;
}

void stopAllAtExit() {
  std::lock_guard lock(live().mutex);
  for (UcxTransport *transport : live().transports)
    transport->stopThread();
}

//===-- Start and end -----------------------------------------------------------------------===//

bool UcxTransport::open() {
  ucp_params_t params = {};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
  params.features = UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64 | UCP_FEATURE_WAKEUP;
  params.estimated_num_eps = static_cast<size_t>(setup.peCount);
  ucp_config_t *config = nullptr;
  if (!check("cannot read the configuration", ucp_config_read(nullptr, nullptr, &config)))
    return false;
  ucs_status_t status = ucp_init(&params, config, &context);
  ucp_config_release(config);
  if (!check("cannot start UCX", status))
    return false;

  ucp_worker_params_t workerParams = {};
  workerParams.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  workerParams.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  ucp_mem_map_params_t mapParams = {};
  mapParams.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                         UCP_MEM_MAP_PARAM_FIELD_FLAGS;
  mapParams.address = setup.heapBase;
  mapParams.length = setup.heapBytes;
  mapParams.flags = UCP_MEM_MAP_NONBLOCK; // pages are touched when they are used
  if (!check("cannot make a worker", ucp_worker_create(context, &workerParams, &worker)) ||
      !check("cannot register the heap", ucp_mem_map(context, &mapParams, &memory)) ||
      !check("cannot wait for events", ucp_worker_get_efd(worker, &workerFd)))
    return false;
  wakeFd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  return wakeFd >= 0 || check("cannot wait for events", UCS_ERR_NO_RESOURCE);
}

void UcxTransport::stopThread() {
  if (!thread.joinable())
    return;
  stopping = true;
  wake();
  thread.join();
}

UcxTransport::~UcxTransport() {
  {
    std::lock_guard lock(live().mutex);
    std::erase(live().transports, this);
  }
  stopThread();
  for (Peer &peer : peers) {
    if (peer.key)
      ucp_rkey_destroy(peer.key);
    if (!peer.endpoint)
      continue;
    // Peers may be gone: no farewell.
    ucp_request_param_t param = {};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_EP_CLOSE_FLAG_FORCE;
    ucs_status_ptr_t request = ucp_ep_close_nbx(peer.endpoint, &param);
    if (!UCS_PTR_IS_PTR(request))
      continue;
    for (int i = 0; i < 10000 && ucp_request_check_status(request) == UCS_INPROGRESS; ++i)
      ucp_worker_progress(worker);
    ucp_request_free(request);
  }
  if (memory)
    ucp_mem_unmap(context, memory);
  if (worker)
    ucp_worker_destroy(worker);
  if (context)
    ucp_cleanup(context);
  if (wakeFd >= 0)
    close(wakeFd);
}

std::string UcxTransport::address() {
  ucp_address_t *own = nullptr;
  size_t length = 0;
  if (!check("no address", ucp_worker_get_address(worker, &own, &length)))
    return {};
  std::string out;
  append<uint64_t>(out, length);
  out.append(reinterpret_cast<const char *>(own), length);
  ucp_worker_release_address(worker, own);
  void *key = nullptr;
  if (!check("no key for the heap", ucp_rkey_pack(context, memory, &key, &length)))
    return {};
  append<uint64_t>(out, length);
  out.append(static_cast<const char *>(key), length);
  ucp_rkey_buffer_release(key);
  append(out, reinterpret_cast<uint64_t>(setup.heapBase));
  return out;
}

int UcxTransport::connect(const std::vector<std::string> &addresses) {
  peers.resize(addresses.size());
  for (size_t pe = 0; pe < addresses.size(); ++pe) {
    Peer &peer = peers[pe];
    size_t at = 0;
    if (!takeText(addresses[pe], at, peer.workerAddress) ||
        !takeText(addresses[pe], at, peer.packedKey) || !take(addresses[pe], at, peer.heapBase))
      return failPe("no usable address from", static_cast<int>(pe), UCS_ERR_INVALID_ADDR);
  }
  std::string error;
  if (!startThread(thread, [this] { run(); }, error))
    return setup.report(kFailed, ("ROCE: " + error).c_str());
  std::lock_guard lock(live().mutex);
  live().transports.push_back(this);
  return 0;
}

/// Under the mutex. The endpoint of a peer whose heap is to be reached, made on first use.
int UcxTransport::endpointOf(int pe, bool hostHeap, Peer *&out) {
  if (hostHeap)
    return setup.report(kUnsupported, "ROCE does not reach the host-side heap of another host");
  Peer &peer = peers[static_cast<size_t>(pe)];
  out = &peer;
  if (peer.broken != UCS_OK)
    return failPe("the connection is lost to", pe, peer.broken);
  if (peer.key)
    return 0;
  ucp_ep_params_t params = {};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t *>(peer.workerAddress.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler.cb = [](void *broken, ucp_ep_h, ucs_status_t status) {
    static_cast<Peer *>(broken)->broken = status;
  };
  params.err_handler.arg = &peer;
  ucs_status_t status = peer.endpoint ? UCS_OK : ucp_ep_create(worker, &params, &peer.endpoint);
  if (status == UCS_OK)
    status = ucp_ep_rkey_unpack(peer.endpoint, peer.packedKey.data(), &peer.key);
  return status == UCS_OK ? 0 : failPe("cannot connect to", pe, status);
}

//===-- Progress ----------------------------------------------------------------------------===//

void UcxTransport::wake() {
  uint64_t one = 1;
  [[maybe_unused]] ssize_t n = write(wakeFd, &one, sizeof(one));
}

void UcxTransport::run() {
  constexpr int kIdleRounds = 50;
  for (int idle = 0; !stopping;) {
    unsigned worked = 0;
    bool sleep = false;
    {
      std::lock_guard lock(mutex);
      for (int i = 0; i < 64; ++i)
        worked += ucp_worker_progress(worker);
      idle = worked ? 0 : idle + 1;
      sleep = idle > kIdleRounds && ucp_worker_arm(worker) == UCS_OK;
    }
    if (worked)
      setup.arrived(setup.context);
    if (sleep) {
      pollfd entries[2] = {{workerFd, POLLIN, 0}, {wakeFd, POLLIN, 0}};
      poll(entries, 2, 100);
      uint64_t count;
      [[maybe_unused]] ssize_t n = read(wakeFd, &count, sizeof(count));
      idle = 0;
    } else if (!worked || callers > 0) {
      sched_yield(); // also lets callers have the mutex
    }
  }
}

/// Under the mutex: an operation was started and goes on by itself.
int UcxTransport::started(const char *what, int pe, ucs_status_ptr_t request) {
  if (UCS_PTR_IS_ERR(request))
    return failPe(what, pe, UCS_PTR_STATUS(request));
  if (UCS_PTR_IS_PTR(request))
    ucp_request_free(request);
  return 0;
}

/// Waits for a request; lets the mutex go in between.
int UcxTransport::finish(std::unique_lock<std::mutex> &lock, const char *what,
                         ucs_status_ptr_t request) {
  if (UCS_PTR_IS_ERR(request))
    return fail(what, UCS_PTR_STATUS(request));
  if (!UCS_PTR_IS_PTR(request))
    return 0;
  auto deadline = std::chrono::steady_clock::now() + kPatience;
  ucs_status_t status;
  for (int round = 1; (status = ucp_request_check_status(request)) == UCS_INPROGRESS; ++round) {
    if (ucp_worker_progress(worker))
      continue;
    if (round % 256)
      continue;
    if (std::chrono::steady_clock::now() >= deadline || setup.lost(setup.context)) {
      status = UCS_ERR_TIMED_OUT;
      break;
    }
    lock.unlock();
    sched_yield();
    lock.lock();
  }
  ucp_request_free(request);
  return status == UCS_OK ? 0 : fail(what, status);
}

//===-- Operations --------------------------------------------------------------------------===//

namespace {
/// Asks for the mutex so that the progress thread steps aside.
class Caller {
public:
  Caller(std::mutex &mutex, std::atomic<int> &callers) {
    callers.fetch_add(1);
    lock = std::unique_lock(mutex);
    callers.fetch_sub(1);
  }
  std::unique_lock<std::mutex> lock;
};
} // namespace

/// Starts a transfer by start(peer, its remote address).
template <typename Start>
int UcxTransport::move(const char *what, const Transfer &transfer, Start start) {
  Caller caller(mutex, callers);
  Peer *peer = nullptr;
  if (int code = endpointOf(transfer.pe, transfer.hostHeap, peer))
    return code;
  int code = started(what, transfer.pe, start(*peer, peer->heapBase + transfer.offset));
  wake();
  return code;
}

int UcxTransport::put(const Transfer &transfer) {
  return move("cannot put to", transfer, [&](Peer &peer, uint64_t remote) {
    ucp_request_param_t param = {};
    return ucp_put_nbx(peer.endpoint, transfer.local, transfer.bytes, remote, peer.key, &param);
  });
}

int UcxTransport::get(const Transfer &transfer) {
  return move("cannot get from", transfer, [&](Peer &peer, uint64_t remote) {
    ucp_request_param_t param = {};
    return ucp_get_nbx(peer.endpoint, transfer.local, transfer.bytes, remote, peer.key, &param);
  });
}

int UcxTransport::signal(const SignalRequest &request) {
  Caller caller(mutex, callers);
  Peer *peer = nullptr;
  if (int code = endpointOf(request.pe, request.hostHeap, peer))
    return code;
  ucp_request_param_t param = {};
  if (staged == kStaging) {
    if (int code = finish(caller.lock, "cannot flush", ucp_worker_flush_nbx(worker, &param)))
      return code;
    staged = 0;
  }
  if (ucs_status_t status = ucp_worker_fence(worker))
    return fail("cannot order a signal", status);
  uint64_t *word = &staging[staged++];
  *word = static_cast<uint32_t>(request.value);
  uint64_t remote = peer->heapBase + request.offset;
  ucs_status_ptr_t started_;
  if (request.op == kSignalAdd) {
    param.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE;
    param.datatype = ucp_dt_make_contig(4);
    started_ =
        ucp_atomic_op_nbx(peer->endpoint, UCP_ATOMIC_OP_ADD, word, 1, remote, peer->key, &param);
  } else {
    started_ = ucp_put_nbx(peer->endpoint, word, 4, remote, peer->key, &param);
  }
  int code = started("cannot signal", request.pe, started_);
  wake();
  return code;
}

int UcxTransport::fence(int) {
  Caller caller(mutex, callers);
  ucs_status_t status = ucp_worker_fence(worker);
  return status == UCS_OK ? 0 : fail("cannot order operations", status);
}

int UcxTransport::quiet(int pe) {
  Caller caller(mutex, callers);
  ucp_request_param_t param = {};
  if (pe == kAllPes) {
    int code = finish(caller.lock, "cannot flush", ucp_worker_flush_nbx(worker, &param));
    if (!code)
      staged = 0;
    return code;
  }
  Peer &peer = peers[static_cast<size_t>(pe)];
  if (peer.broken != UCS_OK)
    return failPe("the connection is lost to", pe, peer.broken);
  return peer.endpoint
             ? finish(caller.lock, "cannot flush", ucp_ep_flush_nbx(peer.endpoint, &param))
             : 0;
}

} // namespace

} // namespace piton::shmem

extern "C" __attribute__((visibility("default"))) piton::shmem::RoceTransport *
piton_roce_create(const piton::shmem::RoceSetup *setup) {
  auto transport = std::make_unique<piton::shmem::UcxTransport>(*setup);
  return transport->open() ? transport.release() : nullptr;
}
