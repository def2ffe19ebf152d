// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every PE's side of the control plane: the connection to PE 0, collective calls over it, and the
// news that a PE is lost. A thread of its own reads the connection, so a loss is noticed whatever
// the PE is doing.
#ifndef PITON_RUNTIME_SHMEM_CONTROLCLIENT_H
#define PITON_RUNTIME_SHMEM_CONTROLCLIENT_H

#include "runtime/shmem/ControlServer.h"

#include <condition_variable>
#include <memory>
#include <mutex>

namespace piton::shmem {

class ControlClient {
public:
  struct Options {
    SocketAddress server;
    std::string serverText; ///< for messages
    int pe = 0, world = 1;
    uint64_t session = 0;
    std::chrono::seconds timeout{120}; ///< for all PEs to be there
    bool tls = false;
    ChannelMaker makeChannel;
    /// Called once, on the client's thread, when the job is lost; `pe` is -1 if no PE is to blame.
    /// Returns what calls report.
    std::function<std::string(int pe, const std::string &text)> onFailure;
    std::function<bool()> terminated; ///< this process has been told to end; may be null
    std::function<void()> onTick;     ///< several times a second, on the client's thread
    /// Shows, for as long as the result lives, that a call has waited for others for a while.
    std::function<std::shared_ptr<void>(int team, uint64_t sequence, const char *what)> showWait;
  };

  explicit ControlClient(Options options) : options(std::move(options)) {}
  ~ControlClient();

  /// Returns when all PEs of the job have connected. On failure nothing is left of the attempt.
  int connect();

  /// A collective call of the team: returns when all members have made it with the same `check`.
  /// `what` names the call in messages, with its arguments. For Gather `results` gets every
  /// member's data in the order of the team, for Split the new teams' numbers. Any thread.
  int call(int team, CallKind kind, const std::string &what, const std::string &check,
           std::string_view data, std::chrono::milliseconds timeout,
           std::vector<std::string> &results);

  void destroyTeam(int team);
  /// Ends every PE's process; this one's when the server's answer comes.
  void exitAll(int status);

  /// Tells all PEs that the job is lost.
  void failAll(const std::string &text);

  /// Tells PE 0 that all `count` PEs of this host wait for each other, and for what; 0 if they do
  /// not any more.
  void tellStill(uint32_t count, const std::string &text);

  /// From now on the end of the connection, also of other PEs', is no failure.
  void leave();

  /// Ends the thread, after what is to be sent has been sent. Before destruction, as long as the
  /// callbacks may use the object.
  void stop() { stopThread(); }

  /// The job is lost; `text` says why.
  bool failed(std::string *text = nullptr);

  /// The process is ending without having left: ends the thread before libraries that it uses are
  /// taken down. The other PEs see the PE end.
  void endAtExit();

  /// After fork, in the child: gives the descriptors up, so that only the PE itself keeps the
  /// connection alive.
  void abandonInChild();

private:
  using CallKey = std::pair<int, uint64_t>;
  struct Answer {
    bool done = false;
    int code = 0;
    std::string text, data;
  };

  int introduce(FrameStream &stream, Clock::time_point deadline, int &refusedHandshakes,
                bool &retry);
  bool pumpOnce(FrameStream &stream, Clock::time_point deadline, bool &alive);
  int reportInterrupted(const std::string &what);
  int reportTerminated(const std::string &missing);
  std::string identity() const;
  int awaitStart(FrameStream &stream, Clock::time_point deadline);
  int connectionEnded(FrameStream &stream, bool welcomed);
  void run();
  void handle(const Frame &frame);
  void send(FrameType type, std::string_view payload);
  void stopThread();
  void fail(int pe, const std::string &text);

  Options options;
  uint64_t connectEpoch = 0;           ///< interruptEpoch() at the start of connect()
  std::unique_ptr<FrameStream> stream; ///< the thread's, once it runs
  std::string serverIdentity = "PE 0"; ///< "PE 0 (pid 17 on host)" once it has said so
  Fd wake;
  std::thread thread;

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Frame> outgoing;
  std::map<int, uint64_t> sequences; ///< next call of each team
  std::map<CallKey, Answer> answers;
  bool leaving = false, stopping = false, lost = false;
  std::string lostText;
};

} // namespace piton::shmem

#endif // PITON_RUNTIME_SHMEM_CONTROLCLIENT_H
