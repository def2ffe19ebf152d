// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Addresses of PE 0 as users write them.

#include "runtime/shmem/UniqueId.h"

#include <gtest/gtest.h>

using namespace piton;

TEST(Address, Urls) {
  shmem::SocketAddress address;
  std::string error;
  EXPECT_TRUE(shmem::parseUrl("tcp://127.0.0.1:8666", address, error)) << error;
  EXPECT_EQ(address.text(), "127.0.0.1:8666");
  EXPECT_TRUE(shmem::parseUrl("tcp://localhost:8666", address, error)) << error;
  EXPECT_TRUE(shmem::parseUrl("tcp6://[::1]:8666", address, error)) << error;
  EXPECT_EQ(address.text(), "[::1]:8666");
  for (const char *bad :
       {"", "127.0.0.1:8666", "tcp://127.0.0.1", "tcp://127.0.0.1:1024", "tcp://127.0.0.1:65536",
        "tcp://127.0.0.1:80x", "tcp://:8666", "tcp://a_b:8666", "tcp6://::1:8666", "tcp6://[::1]",
        "tcp6://[::1:8666", "tcp6://[127.0.0.1]:8666", "udp://127.0.0.1:8666"}) {
    EXPECT_FALSE(shmem::parseUrl(bad, address, error)) << bad;
    EXPECT_NE(error.find("tcp://HOST:PORT"), std::string::npos) << error;
  }
}

TEST(Address, SessionIdsAndInterfaces) {
  shmem::SocketAddress address;
  std::string error;
  EXPECT_TRUE(shmem::parseSessionId("127.0.0.1:8666", address, error));
  EXPECT_EQ(address.text(), "127.0.0.1:8666");
  EXPECT_TRUE(shmem::parseSessionId("127.0.0.1", address, error));
  EXPECT_EQ(address.port(), 0);
  EXPECT_TRUE(shmem::parseSessionId("[::1]:99", address, error));
  EXPECT_EQ(address.text(), "[::1]:99");
  EXPECT_TRUE(shmem::parseSessionId("[::1]", address, error));
  EXPECT_TRUE(shmem::parseSessionId("localhost:7", address, error));
  for (const char *bad : {"", ":80", "::1:80", "[::1", "[::1]80", "1.2.3.4:", "1.2.3.4:x",
                          "1.2.3.4:70000", "no such host"})
    EXPECT_FALSE(shmem::parseSessionId(bad, address, error)) << bad;
  EXPECT_TRUE(shmem::interfaceAddress("lo:inet4", address, error)) << error;
  EXPECT_EQ(address.text(), "127.0.0.1:0");
  EXPECT_TRUE(shmem::interfaceAddress("", address, error)) << error;
  EXPECT_FALSE(shmem::interfaceAddress("none0", address, error));
  EXPECT_FALSE(shmem::interfaceAddress("lo:inet5", address, error));
}
