// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A distributed job on this host: starts the processes of its PEs, and ends all of them when one
// fails.
#ifndef PITON_TOOLS_JOB_H
#define PITON_TOOLS_JOB_H

#include <string>
#include <vector>

namespace piton {

/// Set for the processes of a job beside RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE,
/// MASTER_ADDR and MASTER_PORT: the address for aclshmemx_init_attr_t::ip_port.
inline constexpr char kJobUrlVariable[] = "PITON_SHMEM_URL";

/// Runs `command` as `count` processes and waits for them. Returns 0 if all exit with 0; otherwise
/// says which PE failed first and how, gives the others a few seconds to say what they see of it,
/// ends them and returns that PE's exit code, or 128 + signal. No process survives this one.
int runJob(int count, const std::vector<std::string> &command);

} // namespace piton

#endif // PITON_TOOLS_JOB_H
