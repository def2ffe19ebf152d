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

#include "runtime/shmem/Wait.h"
#include "runtime/transports/Transport.h"

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
  ChannelMaker makeChannel = makePlainChannel, serveChannel = makePlainChannel;
  std::function<bool()> isBusy;       ///< work is queued or running on streams of this process
  std::function<uint32_t()> launches; ///< that run now in this process
  std::function<bool()> isBlocked;    ///< a thread of the host waits, for whatever
  std::function<bool()> othersAtWork; ///< threads that do not wait; asked while one waits
  std::function<bool()> terminated;   ///< this process has been told to end (SIGTERM)
  std::function<void()> onLoss;       ///< the job is lost; on any thread, once
  int cyclesPerMicrosecond = 50;      ///< of the NPU, for cycle profiles
};

/// A heap of one kind (device side or host side) and how it is divided.
struct SymmetricHeap {
  std::shared_ptr<HeapSpace> space;
  std::unique_ptr<HeapAllocator> allocator;
  char *base = nullptr; ///< mine
  uint64_t bytes = 0;
  uint64_t userBytes = 0;    ///< what follows are the library's own words
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

class RoceTransport;

class World {
public:
  /// Collective. On failure, which is reported, nothing is left of the attempt.
  static int start(WorldOptions options, DeviceState &state, std::unique_ptr<World> &out);

  /// Collective unless the job is lost. Afterwards the object is only good for destruction.
  int finish();
  ~World();

  const uint64_t jobNumber = ++made; ///< of the worlds of this process
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

  //===-- Data (Data.cpp) -------------------------------------------------------------------===//

  /// Starts a transfer between `local` and `symmetric`, an address of my heap that stands for the
  /// same offset in the heap of `pe`; `blocking` also waits until it is done.
  int put(const char *call, void *symmetric, const void *local, uint64_t bytes, int pe,
          bool blocking);
  int get(const char *call, void *local, const void *symmetric, uint64_t bytes, int pe,
          bool blocking);
  /// Bytes between the starts of consecutive elements.
  struct Strides {
    ptrdiff_t symmetric = 0, local = 0;
  };
  /// Element-wise.
  int putStrided(const char *call, void *symmetric, const void *local, Strides strides,
                 uint64_t elementBytes, uint64_t count, int pe);
  int getStrided(const char *call, void *local, const void *symmetric, Strides strides,
                 uint64_t elementBytes, uint64_t count, int pe);
  /// One element, by load or store.
  int putOne(const char *call, void *symmetric, const void *local, uint64_t bytes, int pe) {
    return putStrided(call, symmetric, local, {}, bytes, 1, pe);
  }
  int getOne(const char *call, void *local, const void *symmetric, uint64_t bytes, int pe) {
    return getStrided(call, local, symmetric, {}, bytes, 1, pe);
  }
  int signal(const char *call, int32_t *word, int32_t value, int op, int pe);
  int putSignal(const char *call, void *symmetric, const void *local, uint64_t bytes, int pe,
                bool blocking, int32_t *word, int32_t value, int op);
  int fence();
  int quiet(const char *call = "aclshmem_quiet");
  /// Waits until ready(); `word` may lie in any heap or outside, then only the time limit wakes.
  template <typename Ready> int waitOn(WaitTarget target, const Ready &ready) {
    target.pe = ownerOf(target.word);
    return waitUntil(*this, spins, target, ready);
  }

  //===-- Teams (Teams.cpp) -----------------------------------------------------------------===//

  /// Collective over the parent. `out` is kTeamInvalid on PEs that are no members.
  int splitStrided(const char *call, int parent, int start, int stride, int size, int &out);
  int split2d(const char *call, int parent, int rowLength, int &row, int &column);
  int destroyTeam(const char *call, int team);
  int translatePe(int from, int pe, int to) const;
  /// The team, if this PE is a member of it, else null. No report.
  TeamRecord *team(int number) const;
  /// All members have arrived, and everything they sent before is there.
  int barrier(const char *call, int team);

  //===-- Waiting (Wait.cpp) ----------------------------------------------------------------===//

  bool isLost() const { return __atomic_load_n(&state.failure, __ATOMIC_ACQUIRE) != 0; }
  /// The work of streams waits for nobody from now on.
  void endStreamWaits() { streamsEnd = true; }
  std::chrono::seconds callTimeout() const { return options.callTimeout; }
  /// Who waits for what on this host, and who does not wait or is on another host.
  std::string describeWaits() const;
  /// All PEs of this host wait.
  bool everybodyWaits(uint64_t &progress) const;
  uint64_t offsetInHeapOf(int pe, const void *word) const;
  /// PE whose heap this address of mine, or of a peer's mapping, lies in; -1 if none.
  int ownerOf(const void *address) const;
  PeBoard &board() { return *boards[static_cast<size_t>(pe())]; }
  /// Under heapMutex: shows on the board what the user has allocated.
  void publishUsed() {
    __atomic_store_n(&board().usedBytes, deviceHeap.allocator->usedBytes() - internalBytes,
                     __ATOMIC_RELAXED);
  }
  PeBoard *boardOf(int pe) const { return pe < 0 ? nullptr : boards[static_cast<size_t>(pe)]; }

  //===-- Profile.cpp -----------------------------------------------------------------------===//

  /// Copies the cycle counts; false if this PE is not profiled. `text` gets the counted frames.
  bool readProfile(Profile *out, std::string *text) const;

  std::mutex waitMutex;
  std::vector<const PublishedWait *> hostWaits; ///< of host threads, the longest first

  //===-- Everybody -------------------------------------------------------------------------===//

  /// Joins a call of all members: `check` must be equal on all of them.
  int collect(int team, const std::string &what, const std::string &check, std::string_view data,
              std::vector<std::string> &results, CallKind kind = CallKind::Gather);
  int controlBarrier(int team, const std::string &what, CallKind kind = CallKind::Gather);

  /// The job is lost: reports why and returns the code; ACLSHMEM_SUCCESS otherwise.
  int checkAlive(const std::string &call);
  /// For a call that has failed with `code`, reported, because a connection between two PEs has
  /// ended: that one of them has died is known a moment later, and says more.
  int awaitLoss(const std::string &call, int code);
  /// The job is lost, as this PE has been told. Returns all that is known of why.
  std::string loseJob(int pe, const std::string &text);
  /// What a PE of this host that has died was doing, as "; it ...", or nothing.
  std::string describeLast(int pe) const;
  /// Declares the job lost, for all PEs.
  void failJob(const std::string &text) {
    loseJob(-1, text);
    client->failAll(text);
  }
  /// Reports and returns a code if the work of a stream, which this is, must not wait.
  int checkStream(const char *call) const;
  void exitAll(int status) { client->exitAll(status); }
  void abandonInChild();
  /// exit() was called without aclshmem_finalize.
  void endAtExit() {
    client->endAtExit();
    if (server)
      server->stop(std::chrono::milliseconds(0));
  }

private:
  World(WorldOptions options, DeviceState &state)
      : options(std::move(options)), state(state), boards(static_cast<size_t>(peCount())),
        barriers(new std::mutex[kMaxTeams]) {}

  int join();
  int connect();
  int meet();
  int makeHeap(SymmetricHeap &heap, uint64_t bytes, const std::string &what);
  int placeInternals();
  void fillState();
  void startProfile();
  void clearState();
  int checkPe(const char *call, int pe) const;
  int resolve(const char *call, const char *which, const void *symmetric, uint64_t bytes, int pe,
              Transfer &out) const;
  int reportNotSymmetric(const char *call, const char *which, const void *at, uint64_t bytes) const;
  void place(const SymmetricHeap &heap, const void *symmetric, uint64_t bytes, int pe,
             Transfer &out) const;
  int begin(const char *call, Transport &engine, const Transfer &transfer, bool isPut);
  int checkStrides(const char *call, const char *which, const void *symmetric,
                   const Strides &strides, uint64_t elementBytes, uint64_t count, int pe,
                   bool isPut) const;
  int checkSignal(const char *call, const int32_t *word, int op, int pe, Transfer &out) const;
  int sendSignal(const char *call, const Transfer &place, int32_t value, SignalOp op);
  int chooseEngines();
  int openRoce();
  /// Data has come or gone: that is no standstill, however long a transfer takes.
  void networkMoved() {
    __atomic_fetch_add(&board().progress, 1, __ATOMIC_RELAXED);
    ringDoorbell(&board());
  }
  int makeHostHeap();
  int crossBarrier(const char *call, TeamRecord &team);
  int explain(const char *call, int code);
  Transport &engineFor(int pe) { return *engines[static_cast<size_t>(pe)]; }
  /// For single elements and strides: load and store wherever that reaches.
  Transport &directFor(int pe) {
    return state.transports[pe] & kTransportMte ? *transports[0] : engineFor(pe);
  }
  int makeTeams(const char *call, int parent, const std::vector<std::vector<int>> &lists,
                std::vector<int> &mine);
  void tick();
  std::shared_ptr<void> showCollective(int team, uint64_t sequence, const char *what);
  bool waitsForOthers();
  bool nothingRuns();
  std::vector<WaitRecord> waitsOf(int pe) const;
  std::vector<int> whoCouldEnd(int pe, const WaitRecord &record) const;
  std::string describe(const WaitRecord &record) const;
  std::string describeWaits(std::vector<int> &free) const;
  int pullBarrier(const char *call, TeamRecord &team);

  static inline std::atomic<uint64_t> made{0};
  WorldOptions options;
  DeviceState &state;
  std::unique_ptr<ControlServer> server; ///< PE 0 only
  std::unique_ptr<ControlClient> client;

  std::vector<std::string> hosts; ///< identity of every PE's host
  std::vector<int> localPes;      ///< of my host, ascending
  bool forceRoce = false;         ///< PEs of this host are reached over it too
  bool roceNeeded = false;        ///< by any PE; the same on all
  std::vector<PeBoard *> boards;  ///< by PE, null on other hosts

  std::mutex
      heapMutex; ///< held for the whole of a collective call: the order of calls is the heap's
  SymmetricHeap deviceHeap, hostHeap;
  uint64_t internalBytes = 0;                         ///< of the device heap, the library's own
  std::vector<std::unique_ptr<Transport>> transports; ///< those in use
  std::vector<Transport *> engines;                   ///< by PE
  RoceTransport *roce = nullptr;                      ///< one of them, to other hosts
  unsigned spins = 1;
  std::mutex teamMutex;
  std::vector<std::unique_ptr<TeamRecord>> teams;
  std::unique_ptr<char[]> coreSync; ///< words that only this PE uses
  std::unique_ptr<Profile> profile; ///< on the profiled PE

  std::atomic<bool> streamsEnd{false};
  std::unique_ptr<std::mutex[]> barriers; ///< by team: its barriers come one after the other
  std::atomic<bool> watching{false};      ///< for standstills of this host
  Standstill standstill;
  bool toldStill = false; ///< PE 0 has been told of one

  std::mutex failureMutex;
  std::string failureText;
};

} // namespace piton::shmem

#endif // PITON_RUNTIME_SHMEM_WORLD_H
