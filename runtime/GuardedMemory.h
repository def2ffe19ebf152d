// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Access to memory whose address a user gave: what is not there, or may not be written, is a result
// and not the end of the process. The fault itself is caught, so that nothing is spent on addresses
// that are good. Defined in sim/, whose signal handlers know of it.
#ifndef PITON_RUNTIME_GUARDEDMEMORY_H
#define PITON_RUNTIME_GUARDEDMEMORY_H

#include <cstdint>
#include <string>

namespace piton {

/// The first access that the memory did not allow.
struct BadAccess {
  uint64_t address = 0; ///< 0 if the processor does not say
  bool write = false;
  bool mapped = false; ///< there is memory, but it may not be accessed in this way
};

/// As memmove. False, with a part of the bytes copied, if some of them cannot be read or written.
bool tryCopy(void *destination, const void *source, uint64_t bytes, BadAccess &bad);

/// As tryCopy for what copy(destination, source, bytes) does, which must need no clean-up.
bool tryCopyWith(void (*copy)(void *, const void *, uint64_t), void *destination,
                 const void *source, uint64_t bytes, BadAccess &bad);

/// True if all of the bytes can be read; looks at every page.
bool canRead(const void *address, uint64_t bytes, BadAccess &bad);

/// True if all of the bytes can be written; writes to every page what is there, atomically.
bool canWrite(void *address, uint64_t bytes, BadAccess &bad);

/// "which 64 bytes at 0x1000: 0x1000 is unmapped".
std::string describeBadMemory(const char *which, const void *address, uint64_t bytes,
                              const BadAccess &bad);

} // namespace piton

#endif // PITON_RUNTIME_GUARDEDMEMORY_H
