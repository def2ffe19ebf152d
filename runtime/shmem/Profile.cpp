// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cycle profiles: which PE counts, and what it has counted. Kernels count by themselves
// (device/shmem/Shmem.h, profileFrame).

#include "runtime/shmem/World.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <x86intrin.h>

namespace piton::shmem {

/// The PE that SHMEM_CYCLE_PROF_PE chooses, -1 for none; what is no PE of the job stands for 0.
static int chosenPe(int peCount) {
  const char *text = std::getenv("SHMEM_CYCLE_PROF_PE");
  if (!text || !*text)
    return -1;
  char *end = nullptr;
  long pe = std::strtol(text, &end, 10);
  return *end == 0 && pe >= 0 && pe < peCount ? static_cast<int>(pe) : 0;
}

/// Ticks of the processor's counter in a microsecond, as measured in a few milliseconds.
static double ticksPerMicrosecond() {
  Clock::time_point start = Clock::now();
  uint64_t first = __rdtsc();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  uint64_t ticks = __rdtsc() - first;
  return static_cast<double>(ticks) /
         std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

void World::startProfile() {
  if (chosenPe(peCount()) != pe())
    return;
  profile = std::make_unique<Profile>();
  profile->pe = pe();
  state.cyclesPerTick =
      static_cast<uint64_t>(options.cyclesPerMicrosecond / ticksPerMicrosecond() * 4294967296.0);
  state.profile = profile.get();
}

bool World::readProfile(Profile *out, std::string *text) const {
  if (!profile)
    return false;
  if (out)
    out->pe = profile->pe;
  if (text)
    *text = "BlockID FrameID Cycles Count AvgTime(us)\n";
  for (uint32_t block = 0; block < kProfileBlocks; ++block)
    for (uint32_t frame = 0; frame < kProfileFrames; ++frame) {
      const ProfileBlock &source = profile->blocks[block];
      int64_t count = __atomic_load_n(&source.counts[frame], __ATOMIC_RELAXED);
      int64_t cycles = __atomic_load_n(&source.cycles[frame], __ATOMIC_RELAXED);
      if (out) {
        out->blocks[block].counts[frame] = count;
        out->blocks[block].cycles[frame] = cycles;
      }
      if (!text || count == 0)
        continue;
      char line[128];
      std::snprintf(line, sizeof(line), "%u %u %lld %lld %.3f\n", block, frame,
                    static_cast<long long>(cycles), static_cast<long long>(count),
                    static_cast<double>(cycles) / static_cast<double>(count) /
                        options.cyclesPerMicrosecond);
      *text += line;
    }
  return true;
}

} // namespace piton::shmem
