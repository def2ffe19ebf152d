// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Handing the heaps to the PEs of the host, and to nobody else. Needs root, to be another user.

#include "runtime/shmem/HostLink.h"

#include "runtime/shmem/HeapSpace.h"
#include "runtime/shmem/Report.h"
#include "test/runtime/shmem/Jobs.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace piton;
using namespace piton::shmem;

namespace {

constexpr uid_t kNobody = 65534;
const auto never = [] { return false; };

Clock::time_point soon() { return Clock::now() + std::chrono::seconds(10); }

/// Connects to the ticket, asks for the heaps as PE 1 and returns how many descriptors come.
int descriptorsFor(const std::string &ticket) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, ticket.data(), ticket.size());
  int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + ticket.size());
  if (connect(fd, reinterpret_cast<sockaddr *>(&address), length) != 0)
    return -1;
  int32_t pe = 1;
  [[maybe_unused]] ssize_t sent = send(fd, &pe, sizeof(pe), MSG_NOSIGNAL);
  char byte, control[CMSG_SPACE(sizeof(int))] = {};
  iovec data = {&byte, 1};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  return recvmsg(fd, &message, 0) > 0 && CMSG_FIRSTHDR(&message) ? 1 : 0;
}

int exitCode(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace

TEST(HostLink, AnotherUserGetsNoDescriptorAndTheJobGoesOn) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can be another user";
  HostLinkServer server;
  ASSERT_TRUE(server.open()) << piton_last_error();
  HeapLayout layout{2, 1 << 20, {0, 1}};
  Fd file = HeapSpace::createFile(layout);
  ASSERT_TRUE(file);
  pid_t stranger = fork();
  if (stranger == 0)
    _exit(setuid(kNobody) == 0 ? 10 + descriptorsFor(server.ticket()) : 1);
  int served = -1;
  std::thread serving([&] { served = server.serve(file.get(), {1}, soon(), never); });
  EXPECT_EQ(exitCode(stranger), 10) << "10 + number of descriptors";
  Fd mine;
  EXPECT_EQ(fetchFile(server.ticket(), 1, soon(), never, mine), ACLSHMEM_SUCCESS)
      << piton_last_error();
  serving.join();
  EXPECT_EQ(served, ACLSHMEM_SUCCESS);
  EXPECT_TRUE(HeapSpace::map(std::move(mine), layout));
}

TEST(HostLink, MemoryOfAnotherUserIsNotTaken) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can be another user";
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  test::SharedCount over;
  pid_t stranger = fork();
  if (stranger == 0) {
    HostLinkServer server;
    if (setuid(kNobody) != 0 || !server.open())
      _exit(1);
    [[maybe_unused]] ssize_t n = write(ends[1], server.ticket().data(), server.ticket().size());
    (void)server.serve(0, {1}, soon(), [&] { return over.reached(1); });
    _exit(0);
  }
  char ticket[128] = {};
  ASSERT_GT(read(ends[0], ticket, sizeof(ticket) - 1), 0);
  Fd file;
  EXPECT_NE(fetchFile(ticket, 1, soon(), never, file), ACLSHMEM_SUCCESS);
  EXPECT_NE(std::string(piton_last_error()).find("belongs to another user"), std::string::npos)
      << piton_last_error();
  over.add();
  EXPECT_FALSE(file);
  EXPECT_EQ(exitCode(stranger), 0);
}

TEST(HostLink, TheMemoryCannotBeResized) {
  Fd file = HeapSpace::createFile({1, 1 << 20, {0}});
  ASSERT_TRUE(file);
  EXPECT_NE(ftruncate(file.get(), 0), 0);
  EXPECT_NE(ftruncate(file.get(), 1 << 30), 0);
  EXPECT_EQ(HeapSpace::map(std::move(file), {1, 2 << 20, {0}}), nullptr) << "another layout";
}

TEST(HeapSpace, MemoryIsSpentOnTouchedPagesOnly) {
  HeapLayout layout{64, uint64_t(1) << 30, {}};
  for (int pe = 0; pe < 64; ++pe)
    layout.localPes.push_back(pe);
  auto space = HeapSpace::map(HeapSpace::createFile(layout), layout);
  ASSERT_TRUE(space) << piton_last_error();
  EXPECT_LT(space->residentBytes(), 1u << 20);
  std::memset(space->heap(63), 1, 1 << 20);
  EXPECT_GE(space->residentBytes(), 1u << 20);
  EXPECT_LT(space->residentBytes(), 4u << 20);
}
