// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All-reduce of the ranks of one host in memory that they share. The memory has no name: rank 0
// makes it and the others open it through rank 0's file descriptor, so nothing is left behind.
#ifndef PITON_TORCH_SHARED_REDUCE_H
#define PITON_TORCH_SHARED_REDUCE_H

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace piton::torch_device {

enum class Element : uint32_t { F32, F64, F16, BF16, I8, U8, I32, I64 };
enum class Combine : uint32_t { Sum, Product, Min, Max, Mean };

struct Reduction {
  void *data; ///< input, and result in its place
  uint64_t count;
  Element element;
  Combine combine; ///< Mean of floats only
  std::chrono::milliseconds timeout;
};

/// One rank's end of the memory of a group. Every rank runs the same reductions in the same order;
/// one thread at a time.
class SharedReduce {
public:
  /// Rank 0's end. `address` is what the other ranks join with. Null if the system refuses.
  static std::unique_ptr<SharedReduce> create(int size, std::string &address);
  /// Null if the address is not of this host, or not of this user.
  static std::unique_ptr<SharedReduce> join(int rank, int size, const std::string &address);
  ~SharedReduce();
  SharedReduce(const SharedReduce &) = delete;
  SharedReduce &operator=(const SharedReduce &) = delete;

  /// Returns when the result of all ranks is in place. An empty text, or what went wrong; then
  /// every later call fails too, and so do those of the other ranks.
  std::string run(const Reduction &reduction);

  /// The other ranks shall not wait for this one any more.
  void leave();

private:
  struct Header;
  struct Line;
  SharedReduce(int rank, int size, int file, void *memory);
  Line &line(int rank) const;
  uint8_t *slot(int rank) const;
  uint8_t *result() const;
  void post();
  bool waitFor(int rank);
  bool waitForAll();
  bool sleepFor(Line &peer, int rank);
  bool isLost(int rank);
  bool checkPeers();
  bool runChunk(const Reduction &reduction, uint64_t first, uint64_t count);
  std::string fail(std::string text);

  const int rank, size, file;
  uint8_t *const memory;
  const unsigned spins;
  std::vector<const void *> sources; ///< of the present chunk, one a rank
  uint32_t phase = 0;                ///< how often this rank has posted
  uint32_t parity = 0;               ///< which of two buffers the present chunk uses
  std::chrono::milliseconds timeout{0};
  std::chrono::steady_clock::time_point start;
  std::string failure; ///< of this rank, once it has failed
};

} // namespace piton::torch_device

#endif // PITON_TORCH_SHARED_REDUCE_H
