// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the ROCE transport does for the host and for kernels. Both are requests of
// abi/RemoteEngine.h: the host waits for its own, a block looks for the end of its ticket now and
// then. A ticket may stand for several requests of UCX, as a put and the flush that follows it.

#include "runtime/transports/roce/TypedAdd.h"
#include "runtime/transports/roce/UcxTransport.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <sched.h>

namespace piton::shmem {

namespace {

/// How long the host waits for an operation while nothing at all moves.
constexpr std::chrono::seconds kPatience{30};

// Messages.
constexpr unsigned kAddMessage = 1, kAddReply = 2;

bool isQuiet(const RemoteRequest &request) { return request.op == RemoteOp::Quiet; }

/// Also for a request that gives nothing back somebody waits.
bool isAwaited(const RemoteRequest &request) {
  return isQuiet(request) || (request.flags & (kRemoteBlocking | kRemoteReturns));
}

} // namespace

UcxTransport::UcxTransport(const RoceSetup &given) : setup(given) {
  engine.self = this;
  engine.start = [](void *self, RemoteRequest *request, RemoteTicket **ticket) {
    return static_cast<UcxTransport *>(self)->start(*request, *ticket);
  };
  engine.poll = [](void *self, RemoteTicket *ticket, RemoteRequest *request) {
    return static_cast<UcxTransport *>(self)->poll(*ticket, *request);
  };
  engine.abandon = [](void *self, RemoteTicket *ticket) {
    static_cast<UcxTransport *>(self)->abandon(*ticket);
  };
  engine.why = [](void *self, int32_t pe, char *text, uint64_t bytes) {
    static_cast<UcxTransport *>(self)->why(pe, text, bytes);
  };
}

/// The mutex, for which the progress thread steps aside.
UcxTransport::Lock UcxTransport::acquire() {
  callers.fetch_add(1);
  Lock lock(mutex);
  callers.fetch_sub(1);
  return lock;
}

//===-- Tickets -----------------------------------------------------------------------------===//

/// A ticket that does not end before ended() was called for its begin.
UcxTransport::Ticket &UcxTransport::begin(int pe, bool held) {
  if (unused.empty()) {
    tickets.push_back(std::make_unique<Ticket>());
    tickets.back()->transport = this;
    unused.push_back(tickets.back().get());
  }
  Ticket &ticket = *unused.back();
  unused.pop_back();
  ticket.pe = pe;
  ticket.outstanding = 1;
  ticket.covers = 0;
  ticket.status = UCS_OK;
  ticket.held = held;
  ticket.done.store(false, std::memory_order_relaxed);
  return ticket;
}

/// Starts one request of UCX by start(parameters); the ticket ends after it.
template <typename Start> void UcxTransport::track(Ticket &ticket, Start start) {
  ucp_request_param_t param = {};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.send = onEnd;
  param.user_data = &ticket;
  ++ticket.outstanding;
  ucs_status_ptr_t request = start(param);
  if (!UCS_PTR_IS_PTR(request)) // it has ended, and onEnd is not called
    ended(ticket, UCS_PTR_STATUS(request));
}

void UcxTransport::onEnd(void *request, ucs_status_t status, void *user) {
  auto &ticket = *static_cast<Ticket *>(user);
  static_cast<UcxTransport *>(ticket.transport)->ended(ticket, status);
  ucp_request_free(request);
}

void UcxTransport::ended(Ticket &ticket, ucs_status_t status) {
  if (ticket.status == UCS_OK)
    ticket.status = status;
  if (--ticket.outstanding > 0)
    return;
  if (ticket.covers && ticket.status == UCS_OK && ticket.covers > flushed)
    flushed.store(ticket.covers, std::memory_order_release);
  if (ticket.held)
    return ticket.done.store(true, std::memory_order_release);
  if (ticket.status != UCS_OK && failure == UCS_OK) {
    failure = ticket.status;
    failedPe = ticket.pe;
  }
  unused.push_back(&ticket);
}

//===-- Requests ----------------------------------------------------------------------------===//

/// All that was begun on the peer, or on any, is done when the ticket is.
void UcxTransport::flush(Ticket &ticket, Peer *peer) {
  if (!peer)
    ticket.covers = begun.load(std::memory_order_relaxed);
  track(ticket, [&](const ucp_request_param_t &param) {
    return peer ? ucp_ep_flush_nbx(peer->endpoint, &param) : ucp_worker_flush_nbx(worker, &param);
  });
}

/// Starts the request; the ticket ends with it, also in failure.
void UcxTransport::issue(Ticket &ticket, const RemoteRequest &request) {
  if (request.op == RemoteOp::Fence)
    return ended(ticket, ucp_worker_fence(worker));
  if (isQuiet(request)) {
    if (failure == UCS_OK)
      flush(ticket, nullptr);
    return ended(ticket, failure);
  }
  begun.fetch_add(1, std::memory_order_relaxed);
  Peer *peer = nullptr;
  ucs_status_t status = endpointOf(request.pe, peer);
  Heap &heap = peer->heaps[request.flags & kInHostHeap ? 1 : 0];
  if (status == UCS_OK)
    status = unpack(*peer, heap);
  if (status == UCS_OK && (request.flags & kRemoteOrdered))
    status = ucp_worker_fence(worker);
  if (status == UCS_OK) {
    issueOn(ticket, *peer, heap, request);
    bool comesBack = request.op == RemoteOp::Get || (request.flags & kRemoteReturns);
    if ((request.flags & kRemoteBlocking) && !comesBack)
      flush(ticket, peer);
    wake();
  }
  ended(ticket, status);
}

void UcxTransport::issueOn(Ticket &ticket, Peer &peer, const Heap &heap,
                           const RemoteRequest &request) {
  uint64_t remote = heap.base + request.offset;
  ticket.value = request.value;
  ticket.result = 0;
  void *local = request.local;
  switch (request.op) {
  case RemoteOp::Set:
    local = &ticket.value;
    [[fallthrough]];
  case RemoteOp::Put:
    return track(ticket, [&](const ucp_request_param_t &param) {
      return ucp_put_nbx(peer.endpoint, local, request.bytes, remote, heap.key, &param);
    });
  case RemoteOp::Fetch:
    local = &ticket.result;
    [[fallthrough]];
  case RemoteOp::Get:
    return track(ticket, [&](const ucp_request_param_t &param) {
      return ucp_get_nbx(peer.endpoint, local, request.bytes, remote, heap.key, &param);
    });
  case RemoteOp::Add:
    if (typedAddBytes(static_cast<ElementType>(request.type)))
      return issueAdd(ticket, peer, request);
    [[fallthrough]];
  default:
    return issueAtomic(ticket, peer, heap, request);
  }
}

/// An operation on 4 or 8 bytes that UCX has.
void UcxTransport::issueAtomic(Ticket &ticket, Peer &peer, const Heap &heap,
                               const RemoteRequest &request) {
  ucp_atomic_op_t op = UCP_ATOMIC_OP_ADD;
  bool replies = request.flags & kRemoteReturns;
  switch (request.op) {
  case RemoteOp::And:
    op = UCP_ATOMIC_OP_AND;
    break;
  case RemoteOp::Or:
    op = UCP_ATOMIC_OP_OR;
    break;
  case RemoteOp::Xor:
    op = UCP_ATOMIC_OP_XOR;
    break;
  case RemoteOp::Swap:
    op = UCP_ATOMIC_OP_SWAP;
    break;
  case RemoteOp::CompareSwap: // the operand is what is compared with, the new value is in the reply
    op = UCP_ATOMIC_OP_CSWAP;
    ticket.value = request.compare;
    ticket.result = request.value;
    break;
  default:
    break;
  }
  track(ticket, [&](ucp_request_param_t &param) {
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    param.datatype = ucp_dt_make_contig(request.bytes);
    if (replies) {
      param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
      param.reply_buffer = &ticket.result;
    }
    return ucp_atomic_op_nbx(peer.endpoint, op, &ticket.value, 1, heap.base + request.offset,
                             heap.key, &param);
  });
}

/// An addition that UCX has not: the target's progress does it.
void UcxTransport::issueAdd(Ticket &ticket, Peer &peer, const RemoteRequest &request) {
  ticket.message = {reinterpret_cast<uint64_t>(&ticket), request.offset, request.value,
                    request.type, setup.pe};
  ++ticket.outstanding; // the reply
  awaited.push_back(&ticket);
  track(ticket, [&](ucp_request_param_t &param) {
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_EAGER;
    return ucp_am_send_nbx(peer.endpoint, kAddMessage, &ticket.message, sizeof(ticket.message),
                           nullptr, 0, &param);
  });
}

bool UcxTransport::setHandlers() {
  auto set = [this](unsigned id, ucp_am_recv_callback_t handler) {
    ucp_am_handler_param_t param = {};
    param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                       UCP_AM_HANDLER_PARAM_FIELD_ARG;
    param.id = id;
    param.cb = handler;
    param.arg = this;
    return check("cannot take messages", ucp_worker_set_am_recv_handler(worker, &param));
  };
  return set(kAddMessage, onAdd) && set(kAddReply, onReply);
}

ucs_status_t UcxTransport::onAdd(void *self, const void *header, size_t bytes, void *, size_t,
                                 const ucp_am_recv_param_t *param) {
  if (bytes == sizeof(Ticket::AddMessage) && (param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP))
    static_cast<UcxTransport *>(self)->addHere(header, param->reply_ep);
  return UCS_OK;
}

/// Adds to a word of the own heap, and tells its old value.
void UcxTransport::addHere(const void *header, ucp_ep_h sender) {
  Ticket &ticket = begin(-1, false);
  std::memcpy(&ticket.message, header, sizeof(ticket.message));
  Ticket::AddMessage &message = ticket.message;
  auto type = static_cast<ElementType>(message.type);
  uint32_t size = typedAddBytes(type);
  bool good = size && message.offset % size == 0 && message.offset <= setup.heapBytes - size;
  if (good)
    message.value =
        typedAdd(type, static_cast<char *>(setup.heapBase) + message.offset, message.value);
  else
    message.type = UINT32_MAX;
  message.pe = setup.pe;
  track(ticket, [&](ucp_request_param_t &param) {
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_AM_SEND_FLAG_EAGER;
    return ucp_am_send_nbx(sender, kAddReply, &message, sizeof(message), nullptr, 0, &param);
  });
  ended(ticket, UCS_OK);
}

ucs_status_t UcxTransport::onReply(void *self, const void *header, size_t bytes, void *, size_t,
                                   const ucp_am_recv_param_t *) {
  if (bytes == sizeof(Ticket::AddMessage))
    static_cast<UcxTransport *>(self)->takeReply(header);
  return UCS_OK;
}

void UcxTransport::takeReply(const void *header) {
  Ticket::AddMessage message;
  std::memcpy(&message, header, sizeof(message));
  auto at = std::find_if(awaited.begin(), awaited.end(), [&](Ticket *ticket) {
    return reinterpret_cast<uint64_t>(ticket) == message.ticket;
  });
  if (at == awaited.end())
    return;
  Ticket &ticket = **at;
  awaited.erase(at);
  ticket.result = message.value;
  ended(ticket, message.type == UINT32_MAX ? UCS_ERR_INVALID_PARAM : UCS_OK);
}

//===-- For kernels -------------------------------------------------------------------------===//

/// Nothing was begun since the last flush that ended well.
bool UcxTransport::isQuietNow() const {
  return flushed.load(std::memory_order_acquire) == begun.load(std::memory_order_relaxed);
}

RemoteStatus UcxTransport::start(RemoteRequest &request, Ticket *&out) {
  // Adding where the word lies takes a reply, so somebody has to wait for it.
  bool held = isAwaited(request) || (request.op == RemoteOp::Add &&
                                     typedAddBytes(static_cast<ElementType>(request.type)));
  if (isQuiet(request) && isQuietNow())
    return RemoteStatus::Done;
  Lock lock = acquire();
  // Failures of what nobody waits for show in the next Quiet; a lost connection shows at once.
  if (!held && request.op != RemoteOp::Fence &&
      peers[static_cast<size_t>(request.pe)]->broken != UCS_OK)
    return RemoteStatus::Failed;
  Ticket &ticket = begin(isQuiet(request) ? -1 : request.pe, held);
  issue(ticket, request);
  if (!held)
    return RemoteStatus::Done;
  if (ticket.done.load(std::memory_order_relaxed))
    return conclude(ticket, request);
  out = &ticket;
  return RemoteStatus::Pending;
}

/// Under the mutex: what a ticket that is done has brought.
RemoteStatus UcxTransport::conclude(Ticket &ticket, RemoteRequest &request) {
  request.result = ticket.result;
  ucs_status_t status = ticket.status;
  unused.push_back(&ticket);
  if (status == UCS_OK)
    return RemoteStatus::Done;
  if (failure == UCS_OK) {
    failure = status;
    failedPe = ticket.pe;
  }
  return RemoteStatus::Failed;
}

RemoteStatus UcxTransport::poll(Ticket &ticket, RemoteRequest &request) {
  if (!ticket.done.load(std::memory_order_acquire)) {
    unsigned worked = 0;
    if (Lock lock(mutex, std::try_to_lock); lock)
      for (int i = 0; i < 8; ++i)
        worked += ucp_worker_progress(worker);
    if (worked)
      setup.arrived(setup.context);
  }
  if (!ticket.done.load(std::memory_order_acquire))
    return RemoteStatus::Pending;
  Lock lock = acquire();
  return conclude(ticket, request);
}

void UcxTransport::abandon(Ticket &ticket) {
  Lock lock = acquire();
  if (ticket.done.load(std::memory_order_relaxed))
    unused.push_back(&ticket);
  else
    ticket.held = false;
}

void UcxTransport::why(int pe, char *text, uint64_t bytes) {
  Lock lock = acquire();
  if (pe < 0)
    pe = failedPe;
  ucs_status_t broken = pe < 0 ? UCS_OK : peers[static_cast<size_t>(pe)]->broken.load();
  if (broken != UCS_OK)
    std::snprintf(text, bytes, "the connection to PE %d, which is on another host, is lost: %s", pe,
                  ucs_status_string(broken));
  else
    std::snprintf(text, bytes, "an operation on PE %d, which is on another host, failed: %s", pe,
                  ucs_status_string(failure));
}

//===-- For the host ------------------------------------------------------------------------===//

/// Waits for a ticket, which is given back; lets the mutex go in between.
ucs_status_t UcxTransport::finish(Lock &lock, Ticket &ticket) {
  auto now = [] { return std::chrono::steady_clock::now(); };
  auto deadline = now() + kPatience;
  bool worked = false, moved = false;
  for (int round = 1; !ticket.done.load(std::memory_order_relaxed); ++round) {
    if (ucp_worker_progress(worker)) {
      worked = moved = true;
      continue;
    }
    if (round % 256)
      continue;
    if (moved)
      deadline = now() + kPatience;
    moved = false;
    if (now() >= deadline || setup.lost(setup.context)) {
      ticket.held = false;
      return UCS_ERR_TIMED_OUT;
    }
    lock.unlock();
    sched_yield();
    lock.lock();
  }
  ucs_status_t status = ticket.status;
  unused.push_back(&ticket);
  if (worked) {
    lock.unlock();
    setup.arrived(setup.context);
  }
  return status;
}

/// Starts a request and, if it is one that is waited for, waits.
int UcxTransport::perform(const char *what, const RemoteRequest &request) {
  bool held = isAwaited(request);
  Lock lock = acquire();
  if (request.pe >= 0) {
    Peer *peer = nullptr;
    if (ucs_status_t status = endpointOf(request.pe, peer); status != UCS_OK)
      return failPe(peer->broken != UCS_OK ? "the connection is lost to" : "cannot connect to",
                    request.pe, status);
  }
  Ticket &ticket = begin(request.pe, held);
  issue(ticket, request);
  ucs_status_t status = held ? finish(lock, ticket) : UCS_OK;
  if (status == UCS_OK)
    return 0;
  int pe = request.pe < 0 ? failedPe : request.pe;
  return pe < 0 ? fail(what, status) : failPe((std::string(what) + " towards").c_str(), pe, status);
}

int UcxTransport::copy(RemoteOp op, const Transfer &transfer) {
  RemoteRequest request = {};
  request.op = op;
  request.pe = transfer.pe;
  request.offset = transfer.offset;
  request.flags = transfer.hostHeap ? kInHostHeap : 0;
  request.local = transfer.local;
  request.bytes = transfer.bytes;
  return perform(op == RemoteOp::Put ? "cannot put" : "cannot get", request);
}

int UcxTransport::put(const Transfer &transfer) { return copy(RemoteOp::Put, transfer); }

int UcxTransport::get(const Transfer &transfer) { return copy(RemoteOp::Get, transfer); }

int UcxTransport::signal(const SignalRequest &signal) {
  RemoteRequest request = {};
  request.op = signal.op == kSignalAdd ? RemoteOp::Add : RemoteOp::Set;
  request.pe = signal.pe;
  request.flags = kRemoteOrdered | (signal.hostHeap ? kInHostHeap : 0);
  request.type = static_cast<uint32_t>(ElementType::I32);
  request.offset = signal.offset;
  request.bytes = sizeof(signal.value);
  request.value = static_cast<uint32_t>(signal.value);
  return perform("cannot signal", request);
}

int UcxTransport::fence(int) {
  Lock lock = acquire();
  ucs_status_t status = ucp_worker_fence(worker);
  return status == UCS_OK ? 0 : fail("cannot order operations", status);
}

int UcxTransport::quiet(int pe) {
  if (pe == kAllPes) {
    if (isQuietNow())
      return 0;
    RemoteRequest request = {};
    request.op = RemoteOp::Quiet;
    request.pe = -1;
    return perform("operations did not end", request);
  }
  Lock lock = acquire();
  Peer &peer = *peers[static_cast<size_t>(pe)];
  if (ucs_status_t broken = peer.broken; broken != UCS_OK)
    return failPe("the connection is lost to", pe, broken);
  if (!peer.endpoint)
    return 0;
  Ticket &ticket = begin(pe, /*held=*/true);
  flush(ticket, &peer);
  ended(ticket, UCS_OK);
  ucs_status_t status = finish(lock, ticket);
  return status == UCS_OK ? 0 : failPe("operations did not end on", pe, status);
}

} // namespace piton::shmem
