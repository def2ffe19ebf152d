// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unique ids: PE 0 listens before anybody knows of the job, and the id carries its address and a
// random number that keeps other jobs out.
#ifndef PITON_RUNTIME_SHMEM_UNIQUEID_H
#define PITON_RUNTIME_SHMEM_UNIQUEID_H

#include "piton/shmem.h"
#include "runtime/shmem/Socket.h"

namespace piton::shmem {

/// What an id says.
struct UniqueIdContent {
  SocketAddress address;
  uint64_t session = 0;
};

/// Binds an address, as SHMEM_UID_SESSION_ID or SHMEM_UID_SOCK_IFNAME choose it, and listens there
/// until takeUniqueIdListener(). Returns a code, reported.
int makeUniqueId(aclshmemx_uniqueid_t &out);

/// False, with the reason, if `uid` is none.
bool readUniqueId(const aclshmemx_uniqueid_t &uid, UniqueIdContent &out, std::string &error);

/// The listener of an id that this process made; empty if it made none for that session.
Fd takeUniqueIdListener(uint64_t session);

/// "ip:port", "[v6]:port" or "host:port"; the port may be missing and is then 0.
bool parseSessionId(const std::string &text, SocketAddress &out, std::string &error);

/// First address of the interface that `wish` names ("<name>", "<name>:inet4", "<name>:inet6"), or,
/// if it is empty, of the first interface that other hosts may reach, or loopback.
bool interfaceAddress(const std::string &wish, SocketAddress &out, std::string &error);

} // namespace piton::shmem

#endif // PITON_RUNTIME_SHMEM_UNIQUEID_H
