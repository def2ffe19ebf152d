// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ROCE transport's start and end, connections and progress.

#include "runtime/transports/roce/UcxTransport.h"

#include "runtime/shmem/ServiceThread.h"

#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace piton::shmem {

namespace {

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

} // namespace

//===-- Start and end -----------------------------------------------------------------------===//

bool UcxTransport::open() {
  ucp_params_t params = {};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
  params.features =
      UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64 | UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
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
  if (!check("cannot make a worker", ucp_worker_create(context, &workerParams, &worker)) ||
      !registerHeap(setup.heapBase, setup.heapBytes, memories[0]) ||
      !check("cannot wait for events", ucp_worker_get_efd(worker, &workerFd)) || !setHandlers())
    return false;
  wakeFd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  return wakeFd >= 0 || check("cannot wait for events", UCS_ERR_NO_RESOURCE);
}

void UcxTransport::stopThread() {
  if (!thread.joinable())
    return;
  stopping = true;
  uint64_t one = 1;
  [[maybe_unused]] ssize_t n = write(wakeFd, &one, sizeof(one));
  thread.join();
}

UcxTransport::~UcxTransport() {
  {
    std::lock_guard lock(live().mutex);
    std::erase(live().transports, this);
  }
  stopThread();
  for (const auto &each : peers) {
    Peer &peer = *each;
    for (Heap &heap : peer.heaps)
      if (heap.key)
        ucp_rkey_destroy(heap.key);
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
  for (ucp_mem_h memory : memories)
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
  std::string heap = describeHeap(memories[0], setup.heapBase);
  return heap.empty() ? heap : out + heap;
}

bool UcxTransport::registerHeap(void *base, uint64_t bytes, ucp_mem_h &out) {
  ucp_mem_map_params_t params = {};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS;
  params.address = base;
  params.length = bytes;
  params.flags = UCP_MEM_MAP_NONBLOCK; // pages are touched when they are used
  return check("cannot register the heap", ucp_mem_map(context, &params, &out));
}

std::string UcxTransport::describeHeap(ucp_mem_h heap, void *base) {
  void *key = nullptr;
  size_t length = 0;
  if (!check("no key for the heap", ucp_rkey_pack(context, heap, &key, &length)))
    return {};
  std::string out;
  append<uint64_t>(out, length);
  out.append(static_cast<const char *>(key), length);
  ucp_rkey_buffer_release(key);
  append(out, reinterpret_cast<uint64_t>(base));
  return out;
}

std::string UcxTransport::addHostHeap(void *base, uint64_t bytes) {
  Lock lock = acquire();
  return registerHeap(base, bytes, memories[1]) ? describeHeap(memories[1], base) : std::string();
}

int UcxTransport::connectHostHeaps(const std::vector<std::string> &addresses) {
  Lock lock = acquire();
  for (size_t pe = 0; pe < addresses.size(); ++pe) {
    Heap &heap = peers[pe]->heaps[1];
    size_t at = 0;
    if (!takeText(addresses[pe], at, heap.packedKey) || !take(addresses[pe], at, heap.base))
      return failPe("no usable host-side heap of", static_cast<int>(pe), UCS_ERR_INVALID_ADDR);
  }
  return 0;
}

int UcxTransport::connect(const std::vector<std::string> &addresses) {
  for (const std::string &text : addresses) {
    auto peer = std::make_unique<Peer>();
    peer->transport = this;
    size_t at = 0;
    if (!takeText(text, at, peer->workerAddress) || !takeText(text, at, peer->heaps[0].packedKey) ||
        !take(text, at, peer->heaps[0].base))
      return failPe("no usable address from", static_cast<int>(peers.size()), UCS_ERR_INVALID_ADDR);
    peers.push_back(std::move(peer));
  }
  std::string error;
  auto body = [this] {
    setup.serve([](void *self) { static_cast<UcxTransport *>(self)->run(); }, this);
  };
  if (!startThread(thread, body, error))
    return setup.report(kFailed, ("ROCE: " + error).c_str());
  std::lock_guard lock(live().mutex);
  live().transports.push_back(this);
  return 0;
}

/// Under the mutex. The endpoint of a peer, made on first use.
ucs_status_t UcxTransport::endpointOf(int pe, Peer *&out) {
  Peer &peer = *peers[static_cast<size_t>(pe)];
  out = &peer;
  if (ucs_status_t broken = peer.broken; broken != UCS_OK)
    return broken;
  if (peer.endpoint)
    return UCS_OK;
  ucp_ep_params_t params = {};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t *>(peer.workerAddress.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler.cb = [](void *argument, ucp_ep_h, ucs_status_t status) {
    auto &broken = *static_cast<Peer *>(argument);
    broken.transport->lose(broken, status);
  };
  params.err_handler.arg = &peer;
  return ucp_ep_create(worker, &params, &peer.endpoint);
}

/// Under the mutex. The key of a peer's heap, made on first use.
ucs_status_t UcxTransport::unpack(Peer &peer, Heap &heap) {
  if (heap.key)
    return UCS_OK;
  return heap.packedKey.empty()
             ? UCS_ERR_NO_ELEM
             : ucp_ep_rkey_unpack(peer.endpoint, heap.packedKey.data(), &heap.key);
}

/// Under the mutex, from progress: the connection has ended. UCX ends its own requests.
void UcxTransport::lose(Peer &peer, ucs_status_t status) {
  peer.broken = status;
  std::vector<Ticket *> orphans;
  for (Ticket *ticket : awaited)
    if (peers[static_cast<size_t>(ticket->pe)].get() == &peer)
      orphans.push_back(ticket);
  for (Ticket *ticket : orphans) {
    std::erase(awaited, ticket);
    ended(*ticket, status);
  }
}

//===-- Progress ----------------------------------------------------------------------------===//

/// Under the mutex: there is something to drive.
void UcxTransport::wake() {
  if (!sleeping)
    return;
  sleeping = false;
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
      sleep = sleeping = idle > kIdleRounds && ucp_worker_arm(worker) == UCS_OK;
    }
    if (worked)
      setup.arrived(setup.context);
    if (sleep) {
      pollfd entries[2] = {{workerFd, POLLIN, 0}, {wakeFd, POLLIN, 0}};
      ::poll(entries, 2, 100);
      std::lock_guard lock(mutex);
      sleeping = false;
      uint64_t count;
      [[maybe_unused]] ssize_t n = read(wakeFd, &count, sizeof(count));
      idle = 0;
    } else if (!worked || callers > 0) {
      sched_yield(); // also lets callers have the mutex
    }
  }
}

} // namespace piton::shmem

extern "C" __attribute__((visibility("default"))) piton::shmem::RoceTransport *
piton_roce_create(const piton::shmem::RoceSetup *setup) {
  auto transport = std::make_unique<piton::shmem::UcxTransport>(*setup);
  return transport->open() ? transport.release() : nullptr;
}
