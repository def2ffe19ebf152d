// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The links of the chain: static storage, since they are read and written in handlers.

#include "sim/SignalChain.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <pthread.h>
#include <sched.h>
#include <utility>

namespace piton::sim {
namespace {

/// Different handlers that may come between ours; a known one takes its link again.
constexpr int kLinks = 8;

struct Chain {
  std::atomic<ChainHandler> handler{nullptr};
  std::atomic<int> count{0};
  struct sigaction before[kLinks]; ///< written once, ahead of `count`
};
Chain chains[NSIG];

std::atomic_flag installing = ATOMIC_FLAG_INIT;

using Entry = void (*)(int, siginfo_t *, void *);

template <int Link> void enter(int signal, siginfo_t *info, void *context) {
  chains[signal].handler.load(std::memory_order_acquire)(signal, info, context, Link);
}

template <int... Links>
constexpr std::array<Entry, kLinks> makeEntries(std::integer_sequence<int, Links...>) {
  return {enter<Links>...};
}
constexpr std::array<Entry, kLinks> kEntries =
    makeEntries(std::make_integer_sequence<int, kLinks>());

bool sameHandler(const struct sigaction &a, const struct sigaction &b) {
  if ((a.sa_flags & SA_SIGINFO) != (b.sa_flags & SA_SIGINFO))
    return false;
  return a.sa_flags & SA_SIGINFO ? a.sa_sigaction == b.sa_sigaction : a.sa_handler == b.sa_handler;
}

/// The link that stands in front of `current`, known or new; -1 if there is no more room.
int linkBefore(Chain &chain, const struct sigaction &current) {
  int count = chain.count.load();
  for (int link = 0; link < count; ++link)
    if (sameHandler(chain.before[link], current))
      return link;
  if (count == kLinks)
    return -1;
  chain.before[count] = current;
  chain.count.store(count + 1, std::memory_order_release);
  return count;
}

/// Handlers that restore what they found and raise the signal again can still make a circle. It
/// shows as frames that lie ever deeper on one stack; the count survives a handler that jumps out,
/// because the next signal starts further up again.
[[gnu::tls_model("initial-exec")]] thread_local struct {
  uintptr_t frame;
  int depth;
} nesting = {};
constexpr int kMaxDepth = 2 * kLinks;

void actByDefault(int signal, const siginfo_t *info) {
  struct sigaction fallback = {};
  fallback.sa_handler = SIG_DFL;
  sigaction(signal, &fallback, nullptr);
  // A fault repeats itself when the handler returns, anything else is raised again.
  if (info->si_code <= 0)
    raise(signal);
}

} // namespace

bool isChained(const struct sigaction &action) {
  if (!(action.sa_flags & SA_SIGINFO))
    return false;
  for (Entry entry : kEntries)
    if (action.sa_sigaction == entry)
      return true;
  return false;
}

bool installInFront(int signal, ChainHandler handler, int flags, int blocked, bool wait) {
  while (installing.test_and_set(std::memory_order_acquire)) {
    if (!wait)
      return false;
    sched_yield();
  }
  bool done = true;
  struct sigaction current = {};
  if (sigaction(signal, nullptr, &current) == 0 && !isChained(current)) {
    Chain &chain = chains[signal];
    chain.handler.store(handler, std::memory_order_release);
    int link = linkBefore(chain, current);
    done = link >= 0;
    struct sigaction ours = {};
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | flags;
    sigemptyset(&ours.sa_mask);
    if (blocked)
      sigaddset(&ours.sa_mask, blocked);
    if (done) {
      ours.sa_sigaction = kEntries[static_cast<size_t>(link)];
      sigaction(signal, &ours, nullptr);
    }
  }
  installing.clear(std::memory_order_release);
  return done;
}

void passOn(int signal, siginfo_t *info, void *context, int link) {
  auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  auto outer = nesting;
  nesting = {frame, frame < outer.frame ? outer.depth + 1 : 0};
  (void)chains[signal].count.load(std::memory_order_acquire); // the link is written by now
  const struct sigaction &before = chains[signal].before[link];
  bool usable = nesting.depth < kMaxDepth;
  if (usable && (before.sa_flags & SA_SIGINFO) && before.sa_sigaction)
    before.sa_sigaction(signal, info, context);
  else if (usable && before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    before.sa_handler(signal);
  else if (!usable || before.sa_handler != SIG_IGN || info->si_code > 0)
    actByDefault(signal, info);
  nesting = outer;
}

void resetSignalChainAfterFork() { installing.clear(); }

} // namespace piton::sim
