// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the boards of live jobs (abi/DeviceState.h) through /proc.

#include "tools/JobList.h"

#include "abi/DeviceState.h"
#include "piton/shmem.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace piton {

namespace {

std::string engineNames(uint32_t mask) {
  std::string out;
  for (auto [bit, name] : {std::pair{ACLSHMEM_DATA_OP_MTE, "MTE"},
                           {ACLSHMEM_DATA_OP_SDMA, "SDMA"},
                           {ACLSHMEM_DATA_OP_UDMA, "UDMA"},
                           {ACLSHMEM_DATA_OP_ROCE, "ROCE"}})
    if (mask & static_cast<uint32_t>(bit))
      out += (out.empty() ? "" : "+") + std::string(name);
  return out;
}

std::string programOf(int pid) {
  std::string name;
  std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/comm"), name);
  for (char &c : name) // a process chooses it freely, and it goes to a terminal
    c = std::isprint(static_cast<unsigned char>(c)) ? c : '?';
  return name;
}

/// The number of a process in its own pid namespace, which is what it writes on its board.
int ownNumberOf(int pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("NSpid:", 0) == 0)
      return std::atoi(line.c_str() + line.find_last_of("\t ") + 1);
  return pid;
}

/// The memory of a job's heaps, and who has it open: a process that died has not, even where its
/// parent has not noticed or its number is another's now.
struct HeapFile {
  std::string path;
  std::map<int, int> holders; ///< own number -> number here
};

/// Adds the live PEs whose boards lie at the start of the file.
void readBoards(int fd, const HeapFile &file, uint64_t fileBytes, int job,
                std::vector<LivePe> &out) {
  // The first board says how many there are; a job has at most kMaxPes.
  uint64_t most = std::min<uint64_t>(fileBytes, uint64_t(kMaxPes) * sizeof(PeBoard));
  void *at = mmap(nullptr, most, PROT_READ, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED)
    return;
  const auto *boards = static_cast<const PeBoard *>(at);
  int32_t count = most < sizeof(PeBoard) ? 0 : boards[0].localCount;
  for (int32_t i = 0; i < count && (static_cast<uint64_t>(i) + 1) * sizeof(PeBoard) <= most; ++i) {
    const PeBoard &board = boards[i];
    auto holder = file.holders.find(board.pid);
    if (__atomic_load_n(&board.state, __ATOMIC_ACQUIRE) !=
            static_cast<uint32_t>(PeState::Running) ||
        holder == file.holders.end())
      continue;
    LivePe pe;
    pe.job = job;
    pe.pe = board.pe;
    pe.peCount = board.peCount;
    pe.pid = holder->second;
    pe.program = programOf(pe.pid);
    pe.heapBytes = board.heapBytes;
    uint64_t used = __atomic_load_n(&board.usedBytes, __ATOMIC_RELAXED);
    pe.usedBytes = std::min(used, pe.heapBytes);
    pe.engines = engineNames(board.engines);
    pe.waiting = __atomic_load_n(&board.waiting, __ATOMIC_RELAXED) != 0;
    out.push_back(std::move(pe));
  }
  munmap(at, most);
}

/// Symmetric heaps of the processes that this user may look at.
std::map<std::pair<dev_t, ino_t>, HeapFile> listHeapFiles() {
  std::map<std::pair<dev_t, ino_t>, HeapFile> out;
  std::error_code ignored;
  for (fs::directory_iterator process("/proc", ignored), last; process != last;
       process.increment(ignored)) {
    std::string name = process->path().filename();
    if (!std::isdigit(static_cast<unsigned char>(name[0])))
      continue;
    // What belongs to others, or has just ended, cannot be listed.
    for (fs::directory_iterator file(process->path() / "fd", ignored), end; file != end;
         file.increment(ignored)) {
      struct stat info;
      if (fs::read_symlink(file->path(), ignored)
              .string()
              .rfind("/memfd:piton-symmetric-heap", 0) ||
          stat(file->path().c_str(), &info) != 0)
        continue;
      HeapFile &heap = out[{info.st_dev, info.st_ino}];
      heap.path = file->path();
      int pid = std::atoi(name.c_str());
      heap.holders.emplace(ownNumberOf(pid), pid);
    }
  }
  return out;
}

} // namespace

std::vector<LivePe> listLivePes() {
  std::vector<LivePe> out;
  int job = 0;
  for (const auto &[id, heap] : listHeapFiles()) {
    int fd = open(heap.path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info;
    size_t before = out.size();
    if (fd >= 0 && fstat(fd, &info) == 0 && id == std::pair(info.st_dev, info.st_ino))
      readBoards(fd, heap, static_cast<uint64_t>(info.st_size), job, out);
    job += out.size() > before;
    if (fd >= 0)
      close(fd);
  }
  std::sort(out.begin(), out.end(), [](const LivePe &a, const LivePe &b) {
    return std::pair(a.job, a.pe) < std::pair(b.job, b.pe);
  });
  return out;
}

} // namespace piton
