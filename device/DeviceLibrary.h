// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device library as bytes in the compiler: nothing is looked up at run time.
#ifndef PITON_DEVICE_DEVICELIBRARY_H
#define PITON_DEVICE_DEVICELIBRARY_H

#include <cstddef>

namespace piton {

/// Bitcode of every function a kernel may call by name; linked before optimisation.
extern const unsigned char kDeviceBitcode[];
extern const size_t kDeviceBitcodeSize;

/// Bitcode of the functions that distributed kernels call (device/shmem), by kind of core.
struct ShmemBitcode {
  const char *variant; ///< aic, aiv, mix_aic or mix_aiv
  const unsigned char *bytes;
  size_t size;
};
extern const ShmemBitcode kShmemBitcode[4];

/// Object file with the helpers that the code generator itself calls (wide division,
/// soft float conversions); linked after code generation, where needed.
extern const unsigned char kDeviceSoftObject[];
extern const size_t kDeviceSoftObjectSize;

/// Empty shared objects whose sonames put libm and libmvec into an image's NEEDED list,
/// so that compiling needs no C library development files.
extern const unsigned char kStubLibm[];
extern const size_t kStubLibmSize;
extern const unsigned char kStubLibmvec[];
extern const size_t kStubLibmvecSize;

} // namespace piton

#endif // PITON_DEVICE_DEVICELIBRARY_H
