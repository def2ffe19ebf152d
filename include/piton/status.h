/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Status codes of Piton's C API and the per-thread text that goes with them. Whoever finds an error
 * writes its message; outputs of a failed call are untouched; nothing throws across this API. */
#ifndef PITON_STATUS_H
#define PITON_STATUS_H

#if defined(__GNUC__)
#define PITON_API __attribute__((visibility("default")))
#else
#define PITON_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Result of every call that can fail. Values are stable. */
typedef enum piton_status {
  PITON_OK = 0,
  PITON_ERROR_INVALID_ARGUMENT = 1, /**< a null handle, a bad size, an unknown name */
  PITON_ERROR_OUT_OF_MEMORY = 2,    /**< the device's capacity or the host's memory is used up */
  PITON_ERROR_INVALID_IMAGE = 3,    /**< a kernel image that is damaged or of another version */
  PITON_ERROR_UNSUPPORTED = 4,     /**< right, but not on this machine (CPU features, image kind) */
  PITON_ERROR_LIMIT = 5,           /**< a limit of the NPU is exceeded and PITON_STRICT=1 */
  PITON_ERROR_KERNEL_FAULT = 6,    /**< a kernel touched an invalid address or divided by zero */
  PITON_ERROR_KERNEL_ASSERT = 7,   /**< a tl.device_assert failed */
  PITON_ERROR_INTERRUPTED = 8,     /**< Ctrl-C, or piton_launch_interrupt, ended a launch or wait */
  PITON_ERROR_NOT_INITIALIZED = 9, /**< a distributed kernel before the symmetric heap exists */
  PITON_ERROR_NOT_READY = 10,      /**< a query found unfinished work; not a failure */
  PITON_ERROR_SYSTEM = 11          /**< the operating system refused something */
} piton_status_t;

/** Name of a status code, e.g. "PITON_ERROR_LIMIT". Any thread; never null. */
PITON_API const char *piton_status_name(piton_status_t status);

/** Message of the last failed call on this thread, empty before the first one. The text stays valid
 * until the next failing call on the same thread. Never null. */
PITON_API const char *piton_last_error(void);

#ifdef __cplusplus
}
#endif

#endif /* PITON_STATUS_H */
