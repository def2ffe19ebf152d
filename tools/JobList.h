// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The distributed jobs that run on this host now, found through the memory that their processes
// share: the kernel lets a user look at his own jobs only.
#ifndef PITON_TOOLS_JOBLIST_H
#define PITON_TOOLS_JOBLIST_H

#include <cstdint>
#include <string>
#include <vector>

namespace piton {

/// One processing element of a live job.
struct LivePe {
  int job = 0; ///< counts the jobs of the list
  int pe = 0, peCount = 0, pid = 0;
  std::string program;
  uint64_t heapBytes = 0, usedBytes = 0; ///< of the user's symmetric heap
  std::string engines;                   ///< e.g. "MTE" or "MTE+UDMA"
  bool waiting = false;                  ///< for other PEs
};

/// By job, then by PE.
std::vector<LivePe> listLivePes();

} // namespace piton

#endif // PITON_TOOLS_JOBLIST_H
