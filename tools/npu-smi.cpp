// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stand-in for the vendor's npu-smi: lists the simulated devices in the shape that scripts look
// for. What a simulation has no value for is shown as NA.

#include "piton/runtime.h"
#include "tools/JobList.h"

#include <cinttypes>
#include <cstdio>
#include <string>
#include <string_view>

namespace {

constexpr char kUsage[] = R"(usage: npu-smi info [-l]
       npu-smi -v

Lists the simulated NPUs of this machine. TRITON_ASCEND_ARCH selects the SoC, PITON_DEVICE_COUNT
the number of devices.
  info        a table of all devices, and the PEs of this user's distributed jobs
  info -l     number and ids of the devices
  -v          version
)";

constexpr char kRule[] =
    "+---------------------------+---------------+----------------------------------------------+";
constexpr char kDoubleRule[] =
    "+===========================+===============+==============================================+";

int fail() {
  std::fprintf(stderr, "npu-smi: error: %s\n", piton_last_error());
  return 1;
}

bool properties(int index, piton_device_t *&device, piton_device_properties_t &p) {
  return piton_device_get(index, &device) == PITON_OK &&
         piton_device_properties(device, &p) == PITON_OK;
}

int printTable(int count) {
  std::printf("%s\n| %-89s|\n%s\n", kRule, "npu-smi (Piton, simulated NPUs)", kRule);
  std::printf("| %-4s %-21s| %-14s| %-12s%-33s|\n", "NPU", "Name", "Health", "Power(W)", "Temp(C)");
  std::printf("| %-26s| %-14s| %-12s%-33s|\n%s\n", "Chip", "Bus-Id", "AICore", "HBM-Usage(MB)",
              kDoubleRule);
  for (int i = 0; i < count; ++i) {
    piton_device_t *device = nullptr;
    piton_device_properties_t p;
    uint64_t available = 0, total = 0;
    if (!properties(i, device, p) ||
        piton_device_memory_info(device, &available, &total) != PITON_OK)
      return fail();
    constexpr uint64_t mib = 1 << 20;
    std::string memory =
        std::to_string((total - available) / mib) + " / " + std::to_string(total / mib);
    std::string cores = std::to_string(p.cube_cores) + "/" + std::to_string(p.vector_cores);
    std::printf("| %-4d %-21s| %-14s| %-12s%-33s|\n", i, p.name, "OK", "NA", "NA");
    std::printf("| %-26d| %-14s| %-12s%-33s|\n%s\n", 0, "simulated", cores.c_str(), memory.c_str(),
                kRule);
  }
  return 0;
}

/// The processing elements of live distributed jobs.
void printJobs() {
  constexpr uint64_t mib = 1 << 20;
  std::printf("| %-9s %-8s %-20s %-24s %-24s|\n%s\n", "PE", "Pid", "Process name",
              "Symmetric heap(MB)", "Engine", kDoubleRule);
  std::vector<piton::LivePe> pes = piton::listLivePes();
  if (pes.empty())
    std::printf("| %-89s|\n", "No running distributed jobs");
  for (const piton::LivePe &pe : pes) {
    std::string rank = std::to_string(pe.pe) + " of " + std::to_string(pe.peCount);
    std::string heap = std::to_string((pe.usedBytes + mib - 1) / mib) + " / " +
                       std::to_string((pe.heapBytes + mib - 1) / mib);
    std::string engine = pe.engines + (pe.waiting ? " (waits)" : "");
    std::printf("| %-9s %-8d %-20.20s %-24s %-24s|\n", rank.c_str(), pe.pid, pe.program.c_str(),
                heap.c_str(), engine.c_str());
  }
  std::printf("%s\n", kRule);
}

int printList(int count) {
  std::printf("\tTotal Count                    : %d\n", count);
  for (int i = 0; i < count; ++i) {
    piton_device_t *device = nullptr;
    piton_device_properties_t p;
    if (!properties(i, device, p))
      return fail();
    std::printf("\n\tNPU ID                         : %d\n\tProduct Name                   : %s\n"
                "\tChip Count                     : 1\n",
                i, p.name);
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  std::string_view command = argc > 1 ? argv[1] : "", option = argc > 2 ? argv[2] : "";
  if (command == "-h" || command == "--help") {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if (command == "-v" || command == "--version") {
    std::puts("npu-smi version: 0.1.0 (Piton, simulated NPUs)");
    return 0;
  }
  if (command != "info" || argc > 3 || (argc == 3 && option != "-l")) {
    std::fprintf(stderr, "npu-smi: error: unsupported command line\n%s", kUsage);
    return 1;
  }
  int count = 0;
  if (piton_device_count(&count) != PITON_OK)
    return fail();
  if (option == "-l")
    return printList(count);
  int code = printTable(count);
  if (code == 0)
    printJobs();
  return code;
}
