// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ROCE transport on UCX: one worker per PE, one endpoint per peer, the heap registered once.
// Software transports move data only while the target's worker makes progress, so a thread does
// nothing else. One mutex guards the worker and all that follows from it.
#ifndef PITON_RUNTIME_TRANSPORTS_ROCE_UCXTRANSPORT_H
#define PITON_RUNTIME_TRANSPORTS_ROCE_UCXTRANSPORT_H

#include "runtime/transports/roce/Roce.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <ucp/api/ucp.h>

namespace piton {

/// One operation on the way. Its words are what UCX reads values from and writes old ones to, so it
/// lives until UCX has done with it.
struct RemoteTicket {
  /// What an addition that UCX has not is sent as, and what comes back.
  struct AddMessage {
    uint64_t ticket;
    uint64_t offset;
    uint64_t value; ///< the old one, in a reply
    uint32_t type;
    int32_t pe;
  };

  uint64_t value = 0, result = 0;
  AddMessage message = {};
  int32_t pe = -1;          ///< -1 for all
  uint32_t outstanding = 0; ///< requests of UCX, and replies, that have not come
  uint64_t covers = 0;      ///< of a flush: operations that are done when it is
  ucs_status_t status = UCS_OK;
  bool held = false; ///< somebody looks for its end
  std::atomic<bool> done{false};
  void *transport = nullptr;
};

} // namespace piton

namespace piton::shmem {

// Codes of piton/shmem.h, which this library does not link to.
inline constexpr int kFailed = -3, kTimeout = -7;

/// Flag of the host's own requests: the offset is in the host-side heap.
inline constexpr uint32_t kInHostHeap = 1u << 31;

class UcxTransport final : public RoceTransport {
public:
  explicit UcxTransport(const RoceSetup &setup);
  ~UcxTransport() override;
  bool open();
  void stopThread();

  const char *name() const override { return "ROCE"; }
  std::string address() override;
  int connect(const std::vector<std::string> &addresses) override;
  std::string addHostHeap(void *base, uint64_t bytes) override;
  int connectHostHeaps(const std::vector<std::string> &addresses) override;
  const RemoteEngine &remoteEngine() const override { return engine; }
  int put(const Transfer &transfer) override;
  int get(const Transfer &transfer) override;
  int signal(const SignalRequest &request) override;
  int fence(int pe) override;
  int quiet(int pe) override;

private:
  struct Heap {
    std::string packedKey;
    uint64_t base = 0;
    ucp_rkey_h key = nullptr;
  };
  struct Peer {
    std::string workerAddress;
    Heap heaps[2]; ///< device side, host side
    ucp_ep_h endpoint = nullptr;
    std::atomic<ucs_status_t> broken{UCS_OK}; ///< the connection is lost
    UcxTransport *transport = nullptr;
  };
  using Ticket = RemoteTicket;
  using Lock = std::unique_lock<std::mutex>;

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

  // Ucx.cpp
  void run();
  void wake();
  ucs_status_t endpointOf(int pe, Peer *&out);
  ucs_status_t unpack(Peer &peer, Heap &heap);
  std::string describeHeap(ucp_mem_h heap, void *base);
  bool registerHeap(void *base, uint64_t bytes, ucp_mem_h &out);
  void lose(Peer &peer, ucs_status_t status);

  // UcxOperations.cpp; under the mutex except where it is taken there.
  Lock acquire();
  Ticket &begin(int pe, bool held);
  template <typename Start> void track(Ticket &ticket, Start start);
  void ended(Ticket &ticket, ucs_status_t status);
  bool isQuietNow() const;
  void flush(Ticket &ticket, Peer *peer);
  void issue(Ticket &ticket, const RemoteRequest &request);
  void issueOn(Ticket &ticket, Peer &peer, const Heap &heap, const RemoteRequest &request);
  void issueAtomic(Ticket &ticket, Peer &peer, const Heap &heap, const RemoteRequest &request);
  void issueAdd(Ticket &ticket, Peer &peer, const RemoteRequest &request);
  ucs_status_t finish(Lock &lock, Ticket &ticket);
  int perform(const char *what, const RemoteRequest &request);
  /// Put or Get.
  int copy(RemoteOp op, const Transfer &transfer);
  bool setHandlers();
  void addHere(const void *header, ucp_ep_h sender);
  void takeReply(const void *header);
  static void onEnd(void *request, ucs_status_t status, void *ticket);
  static ucs_status_t onAdd(void *self, const void *header, size_t bytes, void *, size_t,
                            const ucp_am_recv_param_t *param);
  static ucs_status_t onReply(void *self, const void *header, size_t bytes, void *, size_t,
                              const ucp_am_recv_param_t *param);

  // What kernels call.
  RemoteStatus start(RemoteRequest &request, Ticket *&ticket);
  RemoteStatus poll(Ticket &ticket, RemoteRequest &request);
  void abandon(Ticket &ticket);
  void why(int pe, char *text, uint64_t bytes);
  RemoteStatus conclude(Ticket &ticket, RemoteRequest &request);

  RoceSetup setup;
  RemoteEngine engine = {};
  ucp_context_h context = nullptr;
  ucp_worker_h worker = nullptr;
  ucp_mem_h memories[2] = {}; ///< device side, host side
  std::vector<std::unique_ptr<Peer>> peers;
  std::mutex mutex;
  int wakeFd = -1, workerFd = -1;
  std::atomic<bool> stopping{false};
  std::atomic<int> callers{0}; ///< threads that want the mutex
  bool sleeping = false;       ///< the progress thread
  std::thread thread;
  std::vector<std::unique_ptr<Ticket>> tickets; ///< all
  std::vector<Ticket *> unused;
  std::vector<Ticket *> awaited; ///< replies
  /// Operations begun, and of those how many a flush has seen done.
  std::atomic<uint64_t> begun{0}, flushed{0};
  ucs_status_t failure = UCS_OK; ///< of an operation that nobody waited for
  int failedPe = -1;
};

} // namespace piton::shmem

#endif // PITON_RUNTIME_TRANSPORTS_ROCE_UCXTRANSPORT_H
