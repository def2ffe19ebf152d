// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test tool: compiles a hand-over module for the simulator and runs it.
//   piton-run-handover K.mlir [--grid X,Y,Z] [--repeat N] [--dump FILE] [--times] ARG...
// ARG is buf:FILE (raw bytes, read before and written back after the launch), ptr:FILE (the
// same, passed as an integer address), or TYPE:VALUE with TYPE one of i1 i8 i16 i32 i64 f16
// bf16 f32 f64.
#include "abi/HardwareModel.h"
#include "abi/KernelImage.h"
#include "compiler/RegisterDialects.h"
#include "compiler/Target/Simulator.h"
#include "runtime/Executor.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <sys/mman.h>

using namespace mlir;
using Clock = std::chrono::steady_clock;

namespace {

/// Processor time of this thread: with PITON_NUM_THREADS=1 a figure that other load does not
/// disturb.
double threadMilliseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) * 1e3 + double(time.tv_nsec) * 1e-6;
}

double milliseconds(Clock::time_point from) {
  return std::chrono::duration<double, std::milli>(Clock::now() - from).count();
}

struct Buffer {
  std::string path;
  void *data = nullptr;
  size_t size = 0;
};

bool readBuffer(llvm::StringRef path, Buffer &buffer) {
  auto file = llvm::MemoryBuffer::getFile(path, false, false);
  if (!file)
    return false;
  buffer.path = path.str();
  buffer.size = (*file)->getBufferSize();
  // Huge pages, as numpy and torch have them for large arrays.
  size_t page = buffer.size > (size_t(4) << 20) ? size_t(2) << 20 : 4096;
  buffer.data = std::aligned_alloc(page, (buffer.size + page) / page * page + page);
  madvise(buffer.data, buffer.size, MADV_HUGEPAGE);
  std::memcpy(buffer.data, (*file)->getBufferStart(), buffer.size);
  return true;
}

int fail(const llvm::Twine &text) {
  llvm::errs() << "error: " << text << "\n";
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  std::string input, dumpPath;
  uint32_t grid[3] = {1, 1, 1};
  int repeat = 0;
  bool times = false;
  std::deque<Buffer> buffers;
  std::string args;
  auto align = [&](size_t bytes) { args.resize((args.size() + bytes - 1) / bytes * bytes); };
  auto push = [&](const void *data, size_t bytes) {
    align(bytes);
    args.append(static_cast<const char *>(data), bytes);
  };
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef arg = argv[i];
    if (arg == "--grid") {
      llvm::SmallVector<llvm::StringRef> parts;
      llvm::StringRef(argv[++i]).split(parts, ',');
      for (size_t d = 0; d < parts.size() && d < 3; ++d)
        parts[d].getAsInteger(10, grid[d]);
    } else if (arg == "--repeat") {
      repeat = std::atoi(argv[++i]);
    } else if (arg == "--dump") {
      dumpPath = argv[++i];
    } else if (arg == "--times") {
      times = true;
    } else if (input.empty()) {
      input = arg.str();
    } else {
      auto [type, value] = arg.split(':');
      if (type == "buf" || type == "ptr") {
        buffers.emplace_back();
        if (!readBuffer(value, buffers.back()))
          return fail("cannot read " + value);
        push(&buffers.back().data, 8);
      } else if (type == "f64") {
        double number = std::atof(value.str().c_str());
        push(&number, 8);
      } else if (type.starts_with("f") || type == "bf16") {
        float number = std::atof(value.str().c_str());
        push(&number, 4);
      } else {
        int64_t number = std::atoll(value.str().c_str());
        push(&number, type == "i64" ? 8 : 4);
      }
    }
  }
  DialectRegistry registry;
  piton::registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  std::string image, dump;
  piton::SimulatorOptions options;
  if (!dumpPath.empty())
    options.dump = &dump;
  std::vector<std::pair<std::string, double>> steps;
  for (int round = 0; round < (times ? 5 : 1); ++round) {
    steps.clear();
    options.times = &steps;
    OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(input, &context);
    if (!module)
      return 1;
    Clock::time_point start = Clock::now();
    bool ok = succeeded(piton::emitSimulatorImage(*module, options, image));
    if (times)
      llvm::outs() << "compile " << llvm::format("%.1f", milliseconds(start)) << " ms\n";
    if (!dumpPath.empty()) {
      std::error_code code;
      llvm::raw_fd_ostream(dumpPath, code) << dump;
    }
    if (!ok)
      return 1;
  }
  if (times)
    for (auto &[name, time] : steps)
      llvm::outs() << name << " " << llvm::format("%.1f", time) << "\n";
  std::shared_ptr<const piton::Kernel> kernel;
  if (piton::simulator().load(image, kernel) != PITON_OK)
    return fail(piton::lastError());
  args.resize(std::max<size_t>(args.size(), kernel->metadata().argBytes));
  piton::LaunchRequest request;
  request.epoch = piton::armInterrupts();
  request.model = piton::findHardwareModel("Ascend910B3");
  request.kernel = kernel.get();
  std::copy(grid, grid + 3, request.grid);
  request.onCallerThread = true;
  request.args = reinterpret_cast<const uint8_t *>(args.data());
  if (!grid[0])
    return 0; // compile only
  if (piton::simulator().run(request) != PITON_OK)
    return fail(piton::lastError());
  for (const Buffer &buffer : buffers) {
    std::error_code code;
    llvm::raw_fd_ostream stream(buffer.path, code);
    stream.write(static_cast<const char *>(buffer.data), buffer.size);
  }
  std::vector<double> runs, cpu;
  for (int i = 0; i < repeat; ++i) {
    Clock::time_point start = Clock::now();
    double cpuStart = threadMilliseconds();
    if (piton::simulator().run(request) != PITON_OK)
      return fail(piton::lastError());
    cpu.push_back(threadMilliseconds() - cpuStart);
    runs.push_back(milliseconds(start));
  }
  if (!runs.empty()) {
    std::sort(runs.begin(), runs.end());
    std::sort(cpu.begin(), cpu.end());
    llvm::outs() << "run min " << llvm::format("%.4f", runs.front()) << " median "
                 << llvm::format("%.4f", runs[runs.size() / 2]) << " ms; this thread's cpu min "
                 << llvm::format("%.4f", cpu.front()) << " median "
                 << llvm::format("%.4f", cpu[cpu.size() / 2]) << " ms\n";
  }
  return 0;
}
