// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The client of the control plane.

#include "runtime/shmem/ControlClient.h"

#include "runtime/Executor.h"
#include "runtime/shmem/Report.h"
#include "runtime/shmem/ServiceThread.h"
#include "runtime/shmem/Tls.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace piton::shmem {

namespace {

using std::chrono::milliseconds;

/// How often a call looks whether Ctrl-C has arrived.
constexpr milliseconds kInterruptPoll(20);
/// PE 0 needs this long, when all are told to end, to say who is missing.
constexpr milliseconds kSayWhoIsMissing(250);

} // namespace

ControlClient::~ControlClient() { stopThread(); }

void ControlClient::endAtExit() {
  {
    std::lock_guard lock(mutex);
    lost = true;
    lostText = "this process is ending";
    changed.notify_all();
  }
  stopThread();
}

void ControlClient::stopThread() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  uint64_t one = 1;
  [[maybe_unused]] ssize_t n = write(wake.get(), &one, sizeof(one));
  thread.join();
}

std::string ControlClient::identity() const {
  return "PE " + std::to_string(options.pe) + " (pid " + std::to_string(getpid()) + " on " +
         hostName() + ")";
}

int ControlClient::reportInterrupted(const std::string &what) {
  return report(ACLSHMEM_INNER_ERROR, what + ": interrupted");
}

//===-- Joining -----------------------------------------------------------------------------===//

/// Waits for what the stream needs next. False at the deadline and on Ctrl-C.
bool ControlClient::pumpOnce(FrameStream &candidate, Clock::time_point deadline, bool &alive) {
  short events = static_cast<short>(POLLIN | (candidate.wantsWrite() ? POLLOUT : 0));
  for (;;) {
    if (waitFor(candidate.fd(), events, std::min(deadline, Clock::now() + kInterruptPoll))) {
      alive = candidate.pump();
      return true;
    }
    if (Clock::now() >= deadline || interruptEpoch() != connectEpoch)
      return false;
  }
}

int ControlClient::connect() {
  connectEpoch = armInterrupts();
  auto interrupted = [this] { return interruptEpoch() != connectEpoch; };
  Clock::time_point start = Clock::now(), deadline = start + options.timeout;
  std::string error;
  milliseconds pause(5);
  int refusedHandshakes = 0;
  for (;;) {
    if (Fd fd = connectOnce(options.server, deadline, error, interrupted)) {
      auto candidate = std::make_unique<FrameStream>(options.makeChannel(std::move(fd)));
      bool retry = false;
      int code = introduce(*candidate, deadline, refusedHandshakes, retry);
      if (code == ACLSHMEM_SUCCESS) {
        stream = std::move(candidate);
        break;
      }
      if (!retry)
        return code;
      error = "the connection was closed";
    }
    if (interrupted())
      return reportInterrupted("aclshmemx_init_attr");
    if (options.terminated && options.terminated())
      return reportTerminated("PE 0 at " + options.serverText + " (" + error + ")");
    if (Clock::now() + pause >= deadline)
      return report(ACLSHMEM_BOOTSTRAP_ERROR,
                    "PE " + std::to_string(options.pe) + " cannot reach PE 0 at " +
                        options.serverText + ": " + error + "; tried for " +
                        std::to_string(options.timeout.count()) + " s (shm_init_timeout)");
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, milliseconds(200));
  }
  if (int code = awaitStart(*stream, deadline))
    return code;
  stream->setLimit(kMaxFrameBytes);
  wake = Fd(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!wake)
    return reportErrno(ACLSHMEM_SMEM_ERROR, "cannot make an event descriptor", errno);
  if (!startLibraryThread(thread, [this] { run(); }, error))
    return report(ACLSHMEM_SMEM_ERROR, error);
  return ACLSHMEM_SUCCESS;
}

/// Sends the greeting and reads the server's verdict. `retry`: the server went away without one, as
/// it does while it starts or ends another job.
int ControlClient::introduce(FrameStream &candidate, Clock::time_point deadline,
                             int &refusedHandshakes, bool &retry) {
  Writer hello;
  hello.value(kProtocolVersion).value(options.session).value<int32_t>(options.pe);
  hello.value<int32_t>(options.world).value<int32_t>(getpid()).text(hostName());
  candidate.send(FrameType::Hello, hello.out);
  bool alive = candidate.pump();
  for (;;) {
    if (auto frame = candidate.next()) {
      if (frame->type == FrameType::Welcome) {
        serverIdentity = frame->payload;
        return ACLSHMEM_SUCCESS;
      }
      return report(ACLSHMEM_BOOTSTRAP_ERROR,
                    "PE 0 at " + options.serverText + " refused: " + frame->payload);
    }
    if (!alive) {
      // A PE 0 without TLS closes at once, every time.
      bool closed = candidate.closed() && candidate.error().empty();
      retry = closed && (candidate.ready() || ++refusedHandshakes < 10);
      return retry ? ACLSHMEM_BOOTSTRAP_ERROR : connectionEnded(candidate, false);
    }
    if (pumpOnce(candidate, deadline, alive))
      continue;
    if (interruptEpoch() != connectEpoch)
      return reportInterrupted("aclshmemx_init_attr");
    return report(ACLSHMEM_TIMEOUT_ERROR, "PE 0 at " + options.serverText +
                                              " accepted the connection and did not answer "
                                              "within " +
                                              std::to_string(options.timeout.count()) +
                                              " s (shm_init_timeout)");
  }
}

int ControlClient::awaitStart(FrameStream &candidate, Clock::time_point deadline) {
  // PE 0 knows who is missing and says so at its deadline; ours is only for a PE 0 that hangs.
  deadline += std::chrono::seconds(5);
  std::optional<Clock::time_point> toldToEnd;
  bool alive = true;
  for (;;) {
    if (auto frame = candidate.next()) {
      if (frame->type == FrameType::Start)
        return ACLSHMEM_SUCCESS;
      if (frame->type != FrameType::Failed)
        continue;
      Reader reader(frame->payload);
      reader.value<int32_t>();
      return report(ACLSHMEM_BOOTSTRAP_ERROR, std::string(reader.text()));
    }
    if (!alive)
      return connectionEnded(candidate, true);
    if (!toldToEnd && options.terminated && options.terminated())
      toldToEnd = Clock::now();
    // As above: whoever ends this process very likely ends PE 0 as well.
    if (toldToEnd && Clock::now() > *toldToEnd + kSayWhoIsMissing)
      return reportTerminated("the other PEs");
    if (pumpOnce(candidate, std::min(deadline, Clock::now() + milliseconds(50)), alive))
      continue;
    if (interruptEpoch() != connectEpoch)
      return reportInterrupted("aclshmemx_init_attr");
    if (Clock::now() >= deadline)
      return report(ACLSHMEM_TIMEOUT_ERROR,
                    "PE 0 at " + options.serverText + " did not start the job within " +
                        std::to_string(options.timeout.count()) + " s (shm_init_timeout)");
  }
}

int ControlClient::reportTerminated(const std::string &missing) {
  return report(ACLSHMEM_BOOTSTRAP_ERROR,
                "aclshmemx_init_attr: this process was told to end (SIGTERM) while it waited for " +
                    missing + "; a launcher does that when a process of the job has died");
}

int ControlClient::connectionEnded(FrameStream &candidate, bool welcomed) {
  if (welcomed)
    return report(ACLSHMEM_BOOTSTRAP_ERROR,
                  serverIdentity + " died, or gave up, while the job was starting" +
                      (candidate.error().empty() ? "" : ": " + candidate.error()));
  if (options.tls && candidate.ready())
    return report(ACLSHMEM_BOOTSTRAP_ERROR,
                  "PE 0 at " + options.serverText + " did not accept this PE's certificate: " +
                      (candidate.error().empty() ? "it closed the connection" : candidate.error()));
  std::string text = "what listens at " + options.serverText + " is no PE 0 of this job: ";
  text += candidate.error().empty() ? "it closed the connection" : candidate.error();
  bool certificate = candidate.error().find(kCertificateRefused) != std::string::npos;
  if (certificate && options.pe == 0)
    text += "; that is this PE's own tlsCert, as PE 0 connects to itself like all others";
  else if (options.tls && !certificate)
    text += "; this PE uses TLS, and every PE must (set_conf_store_tls)";
  return report(ACLSHMEM_BOOTSTRAP_ERROR, text);
}

//===-- The thread --------------------------------------------------------------------------===//

void ControlClient::run() {
  Clock::time_point stopDeadline = Clock::time_point::max();
  for (;;) {
    bool stop;
    {
      std::lock_guard lock(mutex);
      for (; !outgoing.empty(); outgoing.pop_front())
        stream->send(outgoing.front().type, outgoing.front().payload);
      stop = stopping;
      if (stop)
        stopDeadline = std::min(stopDeadline, Clock::now() + std::chrono::seconds(1));
    }
    bool alive = stream->pump();
    while (auto frame = stream->next())
      handle(*frame);
    if (!alive) {
      fail(0, serverIdentity + " died or ended without aclshmem_finalize: its connection ended" +
                  (stream->error().empty() ? "" : " (" + stream->error() + ")"));
      return;
    }
    if (stop && (stream->flushed() || Clock::now() >= stopDeadline))
      return;
    pollfd entries[2] = {{stream->fd(), POLLIN, 0}, {wake.get(), POLLIN, 0}};
    if (stream->wantsWrite())
      entries[0].events |= POLLOUT;
    constexpr int kTickMilliseconds = 200;
    poll(entries, 2, kTickMilliseconds);
    if (!stop && options.onTick)
      options.onTick();
    uint64_t count;
    [[maybe_unused]] ssize_t n = read(wake.get(), &count, sizeof(count));
  }
}

void ControlClient::handle(const Frame &frame) {
  Reader reader(frame.payload);
  if (frame.type == FrameType::Failed) {
    int pe = reader.value<int32_t>();
    return fail(pe, std::string(reader.text()));
  }
  if (frame.type == FrameType::Exit) {
    std::fflush(nullptr);
    _exit(reader.value<int32_t>());
  }
  if (frame.type != FrameType::Result)
    return;
  CallKey key;
  key.first = reader.value<int32_t>();
  key.second = reader.value<uint64_t>();
  std::lock_guard lock(mutex);
  auto waiting = answers.find(key);
  if (waiting == answers.end())
    return;
  Answer &answer = waiting->second;
  answer.code = reader.value<int32_t>();
  answer.text = reader.text();
  answer.data = reader.text();
  answer.done = true;
  changed.notify_all();
}

void ControlClient::fail(int pe, const std::string &text) {
  {
    std::lock_guard lock(mutex);
    if (lost || leaving)
      return;
  }
  // First, so that a call that wakes up below finds every later one refused already. Only the
  // control thread comes here.
  std::string full = options.onFailure(pe, text);
  std::lock_guard lock(mutex);
  lost = true;
  lostText = std::move(full);
  changed.notify_all();
}

//===-- Calls -------------------------------------------------------------------------------===//

/// Under the mutex.
void ControlClient::send(FrameType type, std::string_view payload) {
  outgoing.push_back({type, std::string(payload)});
  uint64_t one = 1;
  [[maybe_unused]] ssize_t n = write(wake.get(), &one, sizeof(one));
}

int ControlClient::call(int team, CallKind kind, const std::string &what, const std::string &check,
                        std::string_view data, milliseconds timeout,
                        std::vector<std::string> &results) {
  uint64_t epoch = armInterrupts();
  std::unique_lock lock(mutex);
  CallKey key{team, sequences[team]++};
  Writer out;
  out.value<int32_t>(key.first).value(key.second).value(static_cast<uint32_t>(kind));
  out.value<int64_t>(timeout.count()).text(what).text(check).text(data);
  answers[key];
  send(FrameType::Call, out.out);
  // The server knows who is missing, so its answer comes first; ours is for a server that hangs.
  Clock::time_point deadline = Clock::now() + timeout + std::chrono::seconds(5);
  std::shared_ptr<void> shown;
  while (!answers[key].done && !lost && Clock::now() < deadline && interruptEpoch() == epoch)
    if (changed.wait_for(lock, kInterruptPoll) == std::cv_status::timeout && !shown &&
        options.showWait)
      shown = options.showWait(team, key.second, what.c_str());
  shown.reset();
  Answer answer = std::move(answers[key]);
  answers.erase(key);
  bool isLost = lost;
  std::string lostWhy = lostText;
  lock.unlock();

  if (!answer.done && isLost)
    return report(ACLSHMEM_INNER_ERROR, what + ": " + lostWhy);
  if (!answer.done && interruptEpoch() != epoch) {
    // The others may have got their answer: the calls do not match any more.
    failAll(identity() + " was interrupted (Ctrl-C) in " + what);
    return reportInterrupted(what);
  }
  if (!answer.done)
    return report(ACLSHMEM_TIMEOUT_ERROR, what + ": PE 0 did not answer within " +
                                              std::to_string(timeout.count() / 1000) +
                                              " s (control_operation_timeout)");
  if (answer.code != ACLSHMEM_SUCCESS)
    return report(answer.code, answer.text);
  Reader reader(answer.data);
  results.clear();
  while (kind != CallKind::Split && reader.ok() && !reader.atEnd())
    results.emplace_back(reader.text());
  if (kind == CallKind::Split)
    results.push_back(std::move(answer.data));
  return ACLSHMEM_SUCCESS;
}

void ControlClient::destroyTeam(int team) {
  std::lock_guard lock(mutex);
  sequences.erase(team);
  send(FrameType::Destroy, Writer().value<int32_t>(team).out);
}

void ControlClient::exitAll(int status) {
  std::lock_guard lock(mutex);
  send(FrameType::Exit, Writer().value<int32_t>(status).out);
}

void ControlClient::failAll(const std::string &text) {
  std::lock_guard lock(mutex);
  send(FrameType::Failed, Writer().text(text).out);
}

void ControlClient::tellStill(uint32_t count, const std::string &text) {
  std::lock_guard lock(mutex);
  send(FrameType::Still, Writer().value(count).text(text).out);
}

void ControlClient::leave() {
  std::lock_guard lock(mutex);
  leaving = true;
  send(FrameType::Bye, {});
}

bool ControlClient::failed(std::string *text) {
  std::lock_guard lock(mutex);
  if (lost && text)
    *text = lostText;
  return lost;
}

void ControlClient::abandonInChild() {
  if (stream)
    close(stream->fd());
}

} // namespace piton::shmem
