// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One PE of a job: its connection to the others, its heaps and its teams. A process has one
// (CApi.cpp), with the DeviceState at the architectural address; tests run several as threads, each
// with a state of its own.
#ifndef PITON_RUNTIME_SHMEM_WORLD_H
#define PITON_RUNTIME_SHMEM_WORLD_H

#include "abi/DeviceState.h"
#include "runtime/shmem/ControlClient.h"
#include "runtime/shmem/HeapAllocator.h"
#include "runtime/shmem/HeapSpace.h"
#include "runtime/shmem/Report.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace piton::shmem {

/// What a PE needs to know to join; checked by the caller.
struct WorldOptions {
  int pe = 0, peCount = 1;
  uint64_t heapBytes = 0; ///< of the user
  uint32_t engines = ACLSHMEM_DATA_OP_MTE;
  std::chrono::seconds initTimeout{120}, createTimeout{120}, callTimeout{120};
  SocketAddress server; ///< of PE 0
  std::string serverText;
  Fd listener; ///< PE 0 may bring one
  uint64_t session = 0;
  bool tls = false;
  ChannelMaker makeChannel = makePlainChannel;
};

/// A heap of one kind (device side or host side) and how it is divided.
struct SymmetricHeap {
  std::shared_ptr<HeapSpace> space;
  std::unique_ptr<HeapAllocator> allocator;
  char *base = nullptr; ///< mine
  uint64_t bytes = 0;
  std::vector<void *> bases; ///< by PE

  bool contains(const void *pointer, uint64_t size = 0) const {
    auto at = static_cast<const char *>(pointer);
    return base && at >= base && at < base + bytes &&
           size <= static_cast<uint64_t>(base + bytes - at);
  }
  uint64_t offsetOf(const void *pointer) const {
    return static_cast<uint64_t>(static_cast<const char *>(pointer) - base);
  }
};

class World {
public:
  /// Collective. On failure, which is reported, nothing is left of the attempt.
  static int start(WorldOptions options, DeviceState &state, std::unique_ptr<World> &out);

  /// Collective unless the job is lost. Afterwards the object is only good for destruction.
  int finish();
  ~World();

  int pe() const { return options.pe; }
  int peCount() const { return options.peCount; }
  DeviceState &deviceState() { return state; }

  //===-- Memory ----------------------------------------------------------------------------===//
  // `call` is the API's spelling of the call, for messages.

  void *allocate(const std::string &call, uint64_t bytes, uint64_t alignment,
                 aclshmem_mem_type_t type, bool cleared = false);
  int free(const std::string &call, void *pointer, aclshmem_mem_type_t type);
  /// The heap of that kind, made on first use (collective), or null.
  SymmetricHeap *heapFor(aclshmem_mem_type_t type);
  /// The heap that holds `size` bytes at `pointer`, or null.
  const SymmetricHeap *heapOf(const void *pointer, uint64_t size = 0) const;
  /// Address of `pointer` in the heap of `pe`; null, with a report, if there is none.
  void *translate(const std::string &call, void *pointer, int pe);
  uint64_t usedBytes();

  //===-- Everybody -------------------------------------------------------------------------===//

  /// Joins a call of all members: `check` must be equal on all of them.
  int collect(int team, const std::string &what, const std::string &check, std::string_view data,
              std::vector<std::string> &results, CallKind kind = CallKind::Gather);
  int controlBarrier(int team, const std::string &what, CallKind kind = CallKind::Gather);

  /// The job is lost: reports why and returns the code; ACLSHMEM_SUCCESS otherwise.
  int checkAlive(const std::string &call);
  /// Declares the job lost, here and, when `pe` is -1, nowhere else.
  void loseJob(int pe, const std::string &text);
  void exitAll(int status) { client->exitAll(status); }
  void abandonInChild();

private:
  World(WorldOptions options, DeviceState &state)
      : options(std::move(options)), state(state), boards(static_cast<size_t>(peCount())) {}

  int join();
  int connect();
  int meet();
  int makeHeap(SymmetricHeap &heap, uint64_t bytes, const std::string &what);
  int placeInternals();
  void fillState();
  void clearState();
  PeBoard &board() { return *boards[static_cast<size_t>(pe())]; }

  WorldOptions options;
  DeviceState &state;
  std::unique_ptr<ControlServer> server; ///< PE 0 only
  std::unique_ptr<ControlClient> client;

  std::vector<std::string> hosts; ///< identity of every PE's host
  std::vector<int> localPes;      ///< of my host, ascending
  std::vector<PeBoard *> boards;  ///< by PE, null on other hosts

  std::mutex
      heapMutex; ///< held for the whole of a collective call: the order of calls is the heap's
  SymmetricHeap deviceHeap, hostHeap;
  std::vector<std::unique_ptr<TeamRecord>> teams;
  std::unique_ptr<char[]> coreSync; ///< words that only this PE uses

  std::mutex failureMutex;
  std::string failureText;
};

} // namespace piton::shmem

#endif // PITON_RUNTIME_SHMEM_WORLD_H
