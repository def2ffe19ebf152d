// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PE 0's side of the control plane: admits the PEs of the job, joins their collective calls and
// tells everybody when a PE is lost. One thread, no locks; nothing that a stranger sends at the
// port harms the job.
#ifndef PITON_RUNTIME_SHMEM_CONTROLSERVER_H
#define PITON_RUNTIME_SHMEM_CONTROLSERVER_H

#include "runtime/shmem/Frames.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace piton::shmem {

/// Makes the channel for an accepted or connected socket.
using ChannelMaker = std::function<std::unique_ptr<Channel>(Fd)>;

/// Kinds of collective calls.
enum class CallKind : uint32_t {
  Gather, ///< the result is every member's data in the order of the team
  Split,  ///< `check` lists new teams; the result is a number for each
  Final ///< as Gather; nobody is admitted from now on, so that the address is free for the next job
};

/// "PE 3", "PEs 1 and 2", "PEs 0, 1, 2 and 13 more".
std::string listPes(const std::vector<int> &pes);

class ControlServer {
public:
  struct Options {
    int world = 1;
    uint64_t session = 0; ///< PEs must name it; 0 without a unique id
    std::chrono::seconds initTimeout{120};
    bool tls = false;
    ChannelMaker makeChannel;
    std::function<bool()> terminated; ///< this process has been told to end; may be null
  };

  /// Serves at `listener` from now on. Null if the system refuses a thread or descriptor.
  static std::unique_ptr<ControlServer> start(Fd listener, Options options);

  /// Ends the service. Lets the other PEs leave first, up to `patience`; if one has died while the
  /// job was starting, also those come that are still on their way, so that they learn of it.
  void stop(std::chrono::milliseconds patience);
  ~ControlServer();

  /// After fork, in the child: gives the descriptors up.
  void abandonInChild();

private:
  struct Connection {
    Fd socket; ///< until the first byte shows what the client speaks
    std::unique_ptr<FrameStream> stream;
    std::string from;
    int pe = -1; ///< once admitted
    bool closing = false;
    bool draining = false;      ///< TLS failed; the alert must not be lost to unread data
    Clock::time_point deadline; ///< to be admitted, or to be gone when closing

    bool isStranger() const { return pe < 0 && (stream || socket); }
  };

  struct Member {
    Connection *connection = nullptr;
    bool joined = false, left = false;
    bool cameLate = false; ///< and was told that the job has failed
    std::string identity;  ///< "PE 1 (pid 17 on host)"
    std::string lastCall;
    uint32_t stillCount = 0; ///< PEs of its host, while all of them wait for each other
    std::string still;       ///< for what
  };

  struct Contribution {
    bool present = false;
    std::string what, check, data;
  };

  struct Pending {
    CallKind kind = CallKind::Gather;
    std::vector<Contribution> parts; ///< by index in the team
    size_t count = 0;
    Clock::time_point deadline;
    std::chrono::milliseconds timeout{};
  };

  struct Team {
    std::vector<int> members; ///< PEs; empty if the number is free
    size_t destroyed = 0;
  };

  using CallKey = std::pair<int, uint64_t>; ///< team, sequence

  ControlServer(Fd listener, Fd wake, Options options);
  void run();
  bool turn();
  Clock::time_point nextDeadline() const;
  void expire(Clock::time_point now);
  std::string whoIsMissing() const;
  std::string listRefusals() const;

  void accept();
  size_t countStrangers() const;
  bool dropStranger();
  bool probe(Connection &connection);
  bool serve(Connection &connection);
  void handle(Connection &connection, const Frame &frame);
  void hello(Connection &connection, Reader reader);
  std::string whyRefused(int pe, int world, uint64_t session, uint32_t version,
                         const std::string &identity);
  void refuse(Connection &connection, const std::string &text);
  void lost(Connection &connection);

  void call(int pe, Reader reader);
  void expireCalls(Clock::time_point now);
  void complete(CallKey key, Pending &pending);
  std::string compare(const std::vector<int> &members, const Pending &pending) const;
  std::string split(const Pending &pending, std::string &error);
  void answer(int pe, CallKey key, int code, std::string_view text, std::string_view data);
  void destroyTeam(int team);
  void standStill(Member &member, Reader reader);

  void failJob(int pe, const std::string &text);
  void broadcast(FrameType type, std::string_view payload);
  void sendTo(int pe, FrameType type, std::string_view payload);
  bool everybodyGone() const;
  bool isTerminated() const { return options.terminated && options.terminated(); }

  Fd listener, wake;
  Options options;
  std::vector<std::unique_ptr<Connection>> connections;
  std::vector<Member> members; ///< by PE
  int joined = 0;
  bool started = false, jobFailed = false;
  bool diedEarly = false; ///< a PE, before the job had started
  std::string failure;
  std::vector<std::string> refusals; ///< for the message when PEs are missing
  Clock::time_point initDeadline;
  Clock::time_point acceptAgain; ///< there were no descriptors for a connection
  std::vector<Team> teams;       ///< by number
  std::map<CallKey, Pending> calls;
  /// Calls that timed out, with the number of members that still have to be told.
  std::map<CallKey, std::pair<size_t, std::string>> expired;

  std::atomic<bool> stopping{false};
  std::atomic<int64_t> stopAt{0}; ///< Clock ticks
  std::thread thread;
};

} // namespace piton::shmem

#endif // PITON_RUNTIME_SHMEM_CONTROLSERVER_H
