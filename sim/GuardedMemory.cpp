// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Guarded accesses: a save point of the thread, which the fault handler resumes.

#include "sim/GuardedMemory.h"

#include "sim/Faults.h"

#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace piton {
namespace {

/// A guarded access that runs on this thread.
struct Guard {
  sim::SavePoint escape = {};
  BadAccess bad;
  Guard *outer = nullptr; ///< which a signal handler has interrupted
};
[[gnu::tls_model("initial-exec")]] thread_local Guard *volatile current = nullptr;

constexpr uint64_t kPage = 4096;

void readPages(void *, const void *source, uint64_t bytes) {
  const auto *at = static_cast<const volatile char *>(source);
  for (uint64_t i = 0; i < bytes; i += kPage - (reinterpret_cast<uint64_t>(at + i) % kPage))
    (void)at[i];
  (void)at[bytes - 1];
}

void writePages(void *destination, const void *, uint64_t bytes) {
  auto *at = static_cast<unsigned char *>(destination);
  volatile unsigned char nothing = 0; // of a constant the compiler would make a load
  for (uint64_t i = 0; i < bytes; i += kPage - (reinterpret_cast<uint64_t>(at + i) % kPage))
    __atomic_fetch_or(at + i, nothing, __ATOMIC_RELAXED);
  __atomic_fetch_or(at + bytes - 1, nothing, __ATOMIC_RELAXED);
}

/// The last byte must have an address too.
bool wraps(const void *address, uint64_t bytes, bool write, BadAccess &bad) {
  uint64_t last;
  if (!__builtin_add_overflow(reinterpret_cast<uint64_t>(address), bytes - 1, &last))
    return false;
  bad = {UINT64_MAX, write, false};
  return true;
}

} // namespace

bool tryCopyWith(void (*copy)(void *, const void *, uint64_t), void *destination,
                 const void *source, uint64_t bytes, BadAccess &bad) {
  if (bytes == 0)
    return true;
  static std::atomic<bool> handled{false}; // init and every launch look again
  if (!handled.load(std::memory_order_relaxed)) {
    sim::ensureSignalHandlers();
    handled.store(true, std::memory_order_relaxed);
  }
  Guard guard;
  guard.outer = current;
  if (sim::pitonSavePoint(&guard.escape)) {
    bad = guard.bad;
    return false;
  }
  // The handler only looks at the pointer on this thread, but it looks at any moment.
  current = &guard;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  copy(destination, source, bytes);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  current = guard.outer;
  return true;
}

bool tryCopy(void *destination, const void *source, uint64_t bytes, BadAccess &bad) {
  auto copy = [](void *to, const void *from, uint64_t n) { std::memmove(to, from, n); };
  return tryCopyWith(copy, destination, source, bytes, bad);
}

bool canRead(const void *address, uint64_t bytes, BadAccess &bad) {
  return bytes == 0 || (!wraps(address, bytes, false, bad) &&
                        tryCopyWith(readPages, nullptr, address, bytes, bad));
}

bool canWrite(void *address, uint64_t bytes, BadAccess &bad) {
  if (bytes == 0 ||
      (!wraps(address, bytes, true, bad) && tryCopyWith(writePages, address, nullptr, bytes, bad)))
    return true;
  bad.write = true; // under TSan the atomic operation reads first
  return false;
}

std::string describeBadMemory(const char *which, const void *address, uint64_t bytes,
                              const BadAccess &bad) {
  char text[128];
  std::snprintf(text, sizeof(text), ", %" PRIu64 " bytes at 0x%" PRIxPTR ", cannot be %s: ", bytes,
                reinterpret_cast<uintptr_t>(address), bad.write ? "written" : "read");
  std::string out = std::string(which) + text;
  if (bad.address == UINT64_MAX)
    return out + "they would go beyond the end of the address space";
  if (bad.address == 0 && address)
    return out + "that is no address of a program";
  std::snprintf(text, sizeof(text), "0x%" PRIx64, bad.address);
  if (bad.mapped)
    return out + text + (bad.write ? " is read-only memory" : " may not be read");
  return out + text + " is not memory of this process";
}

} // namespace piton

bool piton::sim::leaveGuardedAccess(int signal, const siginfo_t *info, ucontext_t *context) {
  Guard *guard = current;
  if (!guard || info->si_code <= 0 || (signal != SIGSEGV && signal != SIGBUS))
    return false;
  bool known = info->si_code != SI_KERNEL; // the address is non-canonical, and nobody says which
  guard->bad.address = known ? reinterpret_cast<uint64_t>(info->si_addr) : 0;
  guard->bad.write = context->uc_mcontext.gregs[REG_ERR] & 2;
  guard->bad.mapped = signal == SIGSEGV && info->si_code == SEGV_ACCERR;
  current = guard->outer;
  resumeAfterSignal(context, guard->escape);
  return true;
}
