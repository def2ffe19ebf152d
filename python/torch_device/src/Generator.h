// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random numbers of a device. A generator wraps one of torch's CPU generators, so an equal seed
// gives the numbers that the CPU gives, while each device keeps a state of its own.
#ifndef PITON_TORCH_GENERATOR_H
#define PITON_TORCH_GENERATOR_H

#include "Common.h"

#include <ATen/core/Generator.h>

namespace piton::torch_device {

/// The generator that operators on `device` use when none is given.
const at::Generator &defaultGenerator(c10::DeviceIndex device);

at::Generator makeGenerator(c10::DeviceIndex device);

/// The CPU generator inside an npu generator.
const at::Generator &hostGenerator(const at::Generator &generator);

} // namespace piton::torch_device

#endif // PITON_TORCH_GENERATOR_H
