// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Warm launch of one block through the C API: microseconds a launch, median of
// batches. Takes a kernel image; its buffers all point at one scratch area and
// its scalars are zero, so the kernel should do next to nothing.
#include "piton/runtime.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace {

bool failed(piton_status_t status, const char *what) {
  if (status == PITON_OK)
    return false;
  std::fprintf(stderr, "launch_bench: %s: %s\n", what, piton_last_error());
  return true;
}

double microseconds(piton_kernel_t *kernel, const std::vector<char> &arguments, int launches) {
  const uint32_t grid[3] = {1, 1, 1};
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < launches; ++i)
    if (failed(piton_launch(kernel, nullptr, grid, arguments.data(), arguments.size(), 0),
               "launch"))
      return -1;
  std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  return took.count() / launches;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: launch_bench IMAGE\n");
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  std::vector<char> image((std::istreambuf_iterator<char>(file)), {});
  piton_kernel_t *kernel = nullptr;
  piton_kernel_properties_t properties;
  if (failed(piton_kernel_load(image.data(), image.size(), &kernel), argv[1]) ||
      failed(piton_kernel_properties(kernel, &properties), "properties"))
    return 1;
  std::vector<char> scratch(1 << 20), arguments(properties.argument_bytes);
  for (uint32_t i = 0; i < properties.argument_count; ++i) {
    piton_argument_t argument;
    if (failed(piton_kernel_argument(kernel, i, &argument), "argument"))
      return 1;
    void *pointer = scratch.data();
    if (argument.type == PITON_TYPE_POINTER)
      std::memcpy(arguments.data() + argument.offset, &pointer, sizeof(pointer));
  }
  std::vector<double> times;
  for (int batch = 0; batch < 51; ++batch) {
    double time = microseconds(kernel, arguments, 1000);
    if (time < 0)
      return 1;
    times.push_back(time);
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  std::printf("%s %.3f\n", properties.name, times[times.size() / 2]);
  piton_kernel_release(kernel);
  return 0;
}
