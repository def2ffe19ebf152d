// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The server of the control plane: connections and membership. The collective calls are in
// ControlCalls.cpp.

#include "runtime/shmem/ControlServer.h"

#include "runtime/shmem/Report.h"
#include "runtime/shmem/ServiceThread.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

namespace piton::shmem {

namespace {
/// A stranger has this long to introduce itself, and a refused one to read why.
constexpr std::chrono::seconds kIntroduction{10};
/// Strangers at one time; for more the one who has waited longest has to go. The process needs
/// descriptors for other things too.
size_t mostStrangers() {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  return std::clamp<size_t>(limit.rlim_cur / 4, 4, 256);
}
/// Nobody is let in for so long when the process has no descriptors left.
constexpr std::chrono::milliseconds kNoDescriptors{100};
} // namespace

std::string listPes(const std::vector<int> &pes) {
  constexpr size_t kShown = 8;
  std::string out = pes.size() == 1 ? "PE " : "PEs ";
  for (size_t i = 0; i < std::min(pes.size(), kShown); ++i) {
    bool last = i + 1 == pes.size();
    out += (i == 0 ? "" : last ? " and " : ", ") + std::to_string(pes[i]);
  }
  if (pes.size() > kShown)
    out += " and " + std::to_string(pes.size() - kShown) + " more";
  return out;
}

std::unique_ptr<ControlServer> ControlServer::start(Fd listener, Options options) {
  Fd wake(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!wake) {
    reportErrno(ACLSHMEM_SMEM_ERROR, "PE 0 cannot make an event descriptor", errno);
    return nullptr;
  }
  std::unique_ptr<ControlServer> server(
      new ControlServer(std::move(listener), std::move(wake), std::move(options)));
  std::string error;
  if (!startLibraryThread(server->thread, [raw = server.get()] { raw->run(); }, error)) {
    report(ACLSHMEM_SMEM_ERROR, "PE 0: " + error);
    return nullptr;
  }
  return server;
}

ControlServer::ControlServer(Fd listener, Fd wake, Options given)
    : listener(std::move(listener)), wake(std::move(wake)), options(std::move(given)) {
  members.resize(static_cast<size_t>(options.world));
  initDeadline = Clock::now() + options.initTimeout;
  teams.resize(1);
  for (int pe = 0; pe < options.world; ++pe)
    teams[0].members.push_back(pe);
}

ControlServer::~ControlServer() { stop(std::chrono::milliseconds(0)); }

void ControlServer::stop(std::chrono::milliseconds patience) {
  if (!thread.joinable())
    return;
  stopAt = (Clock::now() + patience).time_since_epoch().count();
  stopping = true;
  uint64_t one = 1;
  [[maybe_unused]] ssize_t n = write(wake.get(), &one, sizeof(one));
  thread.join();
}

void ControlServer::abandonInChild() {
  close(listener.get());
  for (const auto &connection : connections)
    close(connection->stream ? connection->stream->fd() : connection->socket.get());
}

void ControlServer::run() {
  while (turn()) {
  }
}

Clock::time_point ControlServer::nextDeadline() const {
  auto next = Clock::now() + std::chrono::seconds(3600);
  if (!started && !jobFailed)
    next = std::min(next, initDeadline);
  if (!started && (!jobFailed || stopping) && options.terminated)
    next = std::min(next, Clock::now() + std::chrono::milliseconds(50));
  for (const auto &connection : connections)
    if (connection->pe < 0 || connection->closing)
      next = std::min(next, connection->deadline);
  for (const auto &[key, pending] : calls)
    next = std::min(next, pending.deadline);
  if (acceptAgain > Clock::now())
    next = std::min(next, acceptAgain);
  if (stopping)
    next = std::min(next, Clock::time_point(Clock::duration(stopAt.load())));
  return next;
}

/// One round of poll(); false at the end.
bool ControlServer::turn() {
  if (stopping && (everybodyGone() || Clock::now().time_since_epoch().count() >= stopAt.load()))
    return false;
  std::vector<pollfd> entries = {{wake.get(), POLLIN, 0}};
  for (const auto &connection : connections) {
    int fd = connection->stream ? connection->stream->fd() : connection->socket.get();
    if (fd < 0) // dup() failed
      connection->deadline = Clock::now();
    bool output = connection->stream && connection->stream->wantsWrite();
    entries.push_back({fd, static_cast<short>(POLLIN | (output ? POLLOUT : 0)), 0});
  }
  size_t served = connections.size();
  bool listens = listener && Clock::now() >= acceptAgain;
  if (listens)
    entries.push_back({listener.get(), POLLIN, 0});
  auto left = std::chrono::ceil<std::chrono::milliseconds>(nextDeadline() - Clock::now()).count();
  poll(entries.data(), entries.size(), static_cast<int>(std::clamp<long>(left, 0, 60000)));

  if (entries[0].revents) {
    uint64_t count;
    [[maybe_unused]] ssize_t n = read(wake.get(), &count, sizeof(count));
  }
  for (size_t i = 0; i < served; ++i) {
    Connection &connection = *connections[i];
    if (entries[i + 1].revents && !serve(connection))
      lost(connection);
  }
  if (listens && listener && entries.back().revents)
    accept();
  expire(Clock::now());
  std::erase_if(connections,
                [](const auto &connection) { return !connection->stream && !connection->socket; });
  return true;
}

void ControlServer::expire(Clock::time_point now) {
  for (const auto &connection : connections)
    if ((connection->pe < 0 || connection->closing) && now >= connection->deadline)
      lost(*connection);
  if (!started && !jobFailed && now >= initDeadline)
    failJob(-1, whoIsMissing() + " did not connect to PE 0 within " +
                    std::to_string(options.initTimeout.count()) + " s (shm_init_timeout)" +
                    listRefusals());
  if (!started && !jobFailed && isTerminated())
    failJob(-1, whoIsMissing() +
                    " had not connected to PE 0 when this was told to end (SIGTERM); "
                    "a launcher does that when a process of the job has died" +
                    listRefusals());
  expireCalls(now);
}

std::string ControlServer::whoIsMissing() const {
  std::vector<int> missing;
  for (int pe = 0; pe < options.world; ++pe)
    if (!members[static_cast<size_t>(pe)].joined)
      missing.push_back(pe);
  return listPes(missing) + " of " + std::to_string(options.world);
}

std::string ControlServer::listRefusals() const {
  std::string text;
  for (const std::string &refusal : refusals)
    text += "; refused meanwhile: " + refusal;
  return text;
}

//===-- Connections -------------------------------------------------------------------------===//

void ControlServer::accept() {
  constexpr int kBatch = 64; // a flood does not keep those who are in from being served
  for (int i = 0; i < kBatch; ++i) {
    SocketAddress peer;
    peer.length = sizeof(peer.storage);
    Fd fd(accept4(listener.get(), reinterpret_cast<sockaddr *>(&peer.storage), &peer.length,
                  SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) {
      if (errno != EMFILE && errno != ENFILE)
        return;
      if (dropStranger())
        continue;
      acceptAgain = Clock::now() + kNoDescriptors;
      return;
    }
    tuneConnection(fd.get());
    auto connection = std::make_unique<Connection>();
    connection->socket = std::move(fd);
    connection->from = peer.text();
    connection->deadline = Clock::now() + kIntroduction;
    connections.push_back(std::move(connection));
    if (countStrangers() > mostStrangers())
      dropStranger();
  }
}

size_t ControlServer::countStrangers() const {
  return static_cast<size_t>(std::ranges::count_if(
      connections, [](const auto &connection) { return connection->isStranger(); }));
}

/// Who connects and stays silent must not keep the PEs out: the one who has waited longest goes.
bool ControlServer::dropStranger() {
  auto longest = std::ranges::find_if(
      connections, [](const auto &connection) { return connection->isStranger(); });
  if (longest == connections.end())
    return false;
  lost(**longest);
  return true;
}

/// Looks at a new connection's first bytes: a plain client at a TLS port must be told so in plain
/// text. False when the connection is over.
bool ControlServer::probe(Connection &connection) {
  uint32_t first = 0;
  ssize_t n = recv(connection.socket.get(), &first, sizeof(first), MSG_PEEK);
  if (n < 0)
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  if (n == 0)
    return false;
  bool plain = n == sizeof(first) && first == kProtocolMagic;
  if (options.tls && !plain) {
    connection.stream =
        std::make_unique<FrameStream>(options.makeChannel(std::move(connection.socket)));
    return true;
  }
  connection.stream = std::make_unique<FrameStream>(makePlainChannel(std::move(connection.socket)));
  if (options.tls)
    refuse(connection,
           "PE 0 uses TLS and this PE does not; call set_conf_store_tls the same way on "
           "all PEs");
  return true;
}

/// False when the connection is over.
bool ControlServer::serve(Connection &connection) {
  if (connection.draining) {
    char buffer[4096];
    ssize_t n = recv(connection.socket.get(), buffer, sizeof(buffer), 0);
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
  }
  if (!connection.stream && (!probe(connection) || !connection.stream))
    return bool(connection.socket);
  bool alive = connection.stream->pump();
  while (auto frame = connection.stream->next())
    if (!connection.closing)
      handle(connection, *frame);
  connection.stream->flush(); // what handle() has to say
  return alive;
}

void ControlServer::handle(Connection &connection, const Frame &frame) {
  Reader reader(frame.payload);
  if (connection.pe < 0) {
    if (frame.type == FrameType::Hello)
      hello(connection, reader);
    else
      refuse(connection, "the first message is no greeting");
    return;
  }
  Member &member = members[static_cast<size_t>(connection.pe)];
  switch (frame.type) {
  case FrameType::Call:
    return call(connection.pe, reader);
  case FrameType::Destroy:
    return destroyTeam(reader.value<int32_t>());
  case FrameType::Exit:
    return broadcast(FrameType::Exit, frame.payload);
  case FrameType::Failed:
    return failJob(-1, std::string(reader.text()));
  case FrameType::Still:
    return standStill(member, reader);
  case FrameType::Bye:
    member.left = true;
    return;
  default:
    return;
  }
}

void ControlServer::hello(Connection &connection, Reader reader) {
  auto version = reader.value<uint32_t>();
  auto session = reader.value<uint64_t>();
  auto pe = reader.value<int32_t>();
  auto world = reader.value<int32_t>();
  auto pid = reader.value<int32_t>();
  std::string host(reader.text());
  for (char &c : host)
    c = std::isprint(static_cast<unsigned char>(c)) ? c : '?';
  if (!reader.ok())
    return refuse(connection, "the greeting is damaged");
  std::string identity = "PE " + std::to_string(pe) + " (pid " + std::to_string(pid) + " on " +
                         host.substr(0, 64) + ")";
  if (std::string why = whyRefused(pe, world, session, version, identity); !why.empty())
    return refuse(connection, why);

  Member &member = members[static_cast<size_t>(pe)];
  member.connection = &connection;
  member.joined = true;
  member.identity = identity;
  connection.pe = pe;
  connection.stream->setLimit(kMaxFrameBytes);
  connection.stream->send(FrameType::Welcome,
                          "PE 0 (pid " + std::to_string(getpid()) + " on " + hostName() + ")");
  if (++joined == options.world) {
    started = true;
    broadcast(FrameType::Start, {});
  }
}

std::string ControlServer::whyRefused(int pe, int world, uint64_t session, uint32_t version,
                                      const std::string &identity) {
  if (version != kProtocolVersion)
    return identity + " is of another version of Piton (protocol " + std::to_string(version) +
           ", PE 0 has " + std::to_string(kProtocolVersion) + ")";
  if (session != options.session)
    return identity + " belongs to another job: its unique id is not the one of this PE 0";
  if (world != options.world)
    return identity + " says that the job has " + std::to_string(world) + " PEs, PE 0 says " +
           std::to_string(options.world);
  if (pe < 0 || pe >= options.world)
    return identity + ": the job has PEs 0 to " + std::to_string(options.world - 1);
  Member &member = members[static_cast<size_t>(pe)];
  if (jobFailed) {
    member.cameLate = true;
    return "the job has failed already: " + failure;
  }
  if (member.joined)
    return identity + " wants to be a PE that has connected already, " + member.identity +
           "; two processes have the same rank, or two jobs the same address";
  return {};
}

void ControlServer::refuse(Connection &connection, const std::string &text) {
  log(LogLevel::Warning, "refused a connection from " + connection.from + ": " + text);
  if (refusals.size() < 4)
    refusals.push_back(text);
  connection.stream->send(FrameType::Refused, text);
  connection.stream->flush();
  connection.closing = true;
  connection.deadline = Clock::now() + kIntroduction;
}

/// The connection is over; forgets it.
void ControlServer::lost(Connection &connection) {
  int pe = connection.pe;
  std::string why;
  if (connection.stream && !connection.stream->error().empty())
    why = connection.stream->error();
  if (pe < 0 && !connection.closing && !why.empty()) {
    log(LogLevel::Warning, "dropped a connection from " + connection.from + ": " + why);
    if (refusals.size() < 4)
      refusals.push_back("a connection from " + connection.from + ": " + why);
  }
  bool drain = pe < 0 && connection.stream && !connection.stream->ready() && !why.empty();
  if (drain) {
    // OpenSSL has sent an alert. Closing now, with bytes unread, would make the system drop it.
    connection.socket = Fd(dup(connection.stream->fd()));
    shutdown(connection.socket.get(), SHUT_WR);
    connection.draining = connection.closing = true;
    connection.deadline = Clock::now() + std::chrono::seconds(2);
    connection.stream.reset();
    return;
  }
  connection.stream.reset();
  connection.socket.reset();
  connection.pe = -1;
  if (pe < 0)
    return;
  Member &member = members[static_cast<size_t>(pe)];
  member.connection = nullptr;
  if (member.left)
    return;
  member.left = true;
  diedEarly |= !started && !jobFailed && pe != 0; // PE 0 is here, and gives up for its own reasons
  std::string text = member.identity + " died or ended without aclshmem_finalize";
  if (!why.empty())
    text += " (" + why + ")";
  if (!member.lastCall.empty())
    text += "; its last collective call was " + member.lastCall;
  failJob(pe, text);
}

/// A host's PEs all wait, or do not any more. Once those of every host do, nobody can get on.
void ControlServer::standStill(Member &member, Reader reader) {
  member.stillCount = reader.value<uint32_t>();
  member.still = reader.text();
  uint64_t count = 0;
  std::string text = "standstill: all PEs wait for each other";
  for (const Member &each : members) {
    count += each.stillCount;
    if (each.stillCount)
      text += "; " + each.still;
  }
  if (count == static_cast<uint64_t>(options.world))
    failJob(-1, text + "; nobody is left who could signal");
}

void ControlServer::failJob(int pe, const std::string &text) {
  if (jobFailed)
    return;
  jobFailed = true;
  failure = text;
  broadcast(FrameType::Failed, Writer().value<int32_t>(pe).text(text).out);
}

void ControlServer::broadcast(FrameType type, std::string_view payload) {
  // PE 0 last: this is its process, and an Exit ends it before the others have been told.
  for (int pe = options.world; pe-- > 0;)
    sendTo(pe, type, payload);
}

void ControlServer::sendTo(int pe, FrameType type, std::string_view payload) {
  Connection *connection = members[static_cast<size_t>(pe)].connection;
  if (!connection || !connection->stream)
    return;
  connection->stream->send(type, payload);
  connection->stream->flush();
}

bool ControlServer::everybodyGone() const {
  return std::all_of(members.begin(), members.end(),
                     [late = diedEarly && !isTerminated()](const Member &member) {
                       bool mayCome = late && !member.joined && !member.cameLate;
                       return !member.connection && !mayCome;
                     });
}

} // namespace piton::shmem
