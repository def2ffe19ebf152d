// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups whose ranks are all on this host: their all-reduces go through shared memory, in the order
// of the calls, on the caller's thread or (asynchronous ones) on a thread of the group.
#ifndef PITON_TORCH_HOST_GROUP_H
#define PITON_TORCH_HOST_GROUP_H

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <string>

namespace piton::torch_device {

/// Rank 0 makes the memory of the group of this name; the text is for the other ranks' join. Empty
/// if there can be none.
std::string offerSharedMemory(const std::string &group, int64_t size);
/// False if the memory cannot be had here: the ranks are not on one host.
bool joinSharedMemory(const std::string &group, int64_t rank, int64_t size,
                      const std::string &address);
/// Forgets the memory, since not all ranks have it. All ranks do or none.
void dropSharedMemory(const std::string &group);

/// Where the group has memory and `reduces` is true: a back end that all-reduces through it and
/// leaves what that cannot do to `backend`. Otherwise `backend` itself.
c10::intrusive_ptr<c10d::Backend> withSharedMemory(c10::intrusive_ptr<c10d::Backend> backend,
                                                   bool reduces);

} // namespace piton::torch_device

#endif // PITON_TORCH_HOST_GROUP_H
