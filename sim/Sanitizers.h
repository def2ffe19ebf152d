// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ASan and TSan must be told about stack switches and about frames that are left without
// returning. All calls vanish in ordinary builds.
#ifndef PITON_SIM_SANITIZERS_H
#define PITON_SIM_SANITIZERS_H

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PITON_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define PITON_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define PITON_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define PITON_TSAN 1
#endif

#ifdef PITON_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef PITON_TSAN
#include <sanitizer/tsan_interface.h>
#endif

/// For functions that are left by an escape: their entry must not be counted.
#if defined(PITON_TSAN) && defined(__clang__)
#define PITON_LEAVES_EARLY __attribute__((disable_sanitizer_instrumentation))
#else
#define PITON_LEAVES_EARLY
#endif

namespace piton::sim {

#ifdef PITON_TSAN
inline constexpr bool kThreadSanitizer = true;
inline void *currentTsanFiber() { return __tsan_get_current_fiber(); }
inline void *createTsanFiber() { return __tsan_create_fiber(0); }
inline void destroyTsanFiber(void *fiber) {
  if (fiber)
    __tsan_destroy_fiber(fiber);
}
inline void switchTsanFiber(void *fiber) { __tsan_switch_to_fiber(fiber, 0); }
#else
inline constexpr bool kThreadSanitizer = false;
inline void *currentTsanFiber() { return nullptr; }
inline void *createTsanFiber() { return nullptr; }
inline void destroyTsanFiber(void *) {}
inline void switchTsanFiber(void *) {}
#endif

#ifdef PITON_ASAN
inline void startSwitch(void **save, const void *bottom, size_t size) {
  __sanitizer_start_switch_fiber(save, bottom, size);
}
inline void finishSwitch(void *saved, const void **oldBottom, size_t *oldSize) {
  __sanitizer_finish_switch_fiber(saved, oldBottom, oldSize);
}
inline void beforeNoReturn() { __asan_handle_no_return(); }
#else
inline void startSwitch(void **, const void *, size_t) {}
inline void finishSwitch(void *, const void **, size_t *) {}
inline void beforeNoReturn() {}
#endif

} // namespace piton::sim

#endif // PITON_SIM_SANITIZERS_H
