// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Making and reading unique ids.

#include "runtime/shmem/UniqueId.h"

#include "runtime/shmem/Report.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ifaddrs.h>
#include <map>
#include <mutex>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/random.h>

namespace piton::shmem {

namespace {

constexpr int32_t kVersion = (1 << 16) | static_cast<int32_t>(sizeof(aclshmemx_uniqueid_t));

/// How the opaque bytes of an id are used.
struct Inner {
  int32_t family;
  uint32_t length;
  char address[sizeof(sockaddr_in6)];
  uint64_t session;
};
static_assert(sizeof(Inner) <= ACLSHMEM_UNIQUE_ID_INNER_LEN);

/// Listeners of ids that were made and not used yet.
struct Listeners {
  std::mutex mutex;
  std::map<uint64_t, Fd> bySession;
};
Listeners &listeners() {
  static Listeners &instance = *new Listeners;
  return instance;
}

bool parsePort(const std::string &text, uint16_t &out) {
  if (text.empty() || text.size() > 5 ||
      !std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); }))
    return false;
  unsigned long value = std::stoul(text);
  out = static_cast<uint16_t>(value);
  return value <= 65535;
}

bool isVirtual(const std::string &name) {
  for (const char *prefix : {"lo", "docker", "veth", "br-", "virbr", "tun", "tap"})
    if (name.rfind(prefix, 0) == 0)
      return true;
  return false;
}

bool chooseAddress(SocketAddress &out, std::string &error) {
  if (const char *session = std::getenv("SHMEM_UID_SESSION_ID"); session && *session) {
    if (parseSessionId(session, out, error))
      return true;
    error = "SHMEM_UID_SESSION_ID=" + std::string(session) + ": " + error;
    return false;
  }
  const char *wish = std::getenv("SHMEM_UID_SOCK_IFNAME");
  return interfaceAddress(wish ? wish : "", out, error);
}

} // namespace

bool parseSessionId(const std::string &text, SocketAddress &out, std::string &error) {
  std::string host = text, port;
  if (!text.empty() && text[0] == '[') {
    size_t close = text.find(']');
    if (close == std::string::npos) {
      error = "the bracket of the IPv6 address is not closed";
      return false;
    }
    host = text.substr(1, close - 1);
    std::string rest = text.substr(close + 1);
    if (!rest.empty() && rest[0] != ':') {
      error = "expected ':' behind the bracket";
      return false;
    }
    port = rest.empty() ? "" : rest.substr(1);
  } else if (size_t colon = text.rfind(':'); colon != std::string::npos) {
    if (text.find(':') != colon) {
      error = "an IPv6 address must be in brackets, [address]:port";
      return false;
    }
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (port.empty()) {
      error = "the port behind ':' is missing";
      return false;
    }
  }
  uint16_t number = 0;
  if (host.empty() || (!port.empty() && !parsePort(port, number))) {
    error = host.empty() ? "there is no address" : "the port is no number up to 65535";
    return false;
  }
  return resolve(host, number, AF_UNSPEC, out, error);
}

bool interfaceAddress(const std::string &wish, SocketAddress &out, std::string &error) {
  std::string name = wish, family;
  if (size_t colon = wish.find(':'); colon != std::string::npos) {
    name = wish.substr(0, colon);
    family = wish.substr(colon + 1);
  }
  if (!family.empty() && family != "inet4" && family != "inet6") {
    error = "SHMEM_UID_SOCK_IFNAME=" + wish +
            ": expected <interface>, <interface>:inet4 or "
            "<interface>:inet6";
    return false;
  }
  ifaddrs *all = nullptr;
  if (getifaddrs(&all) != 0) {
    error = "cannot list the network interfaces: " + errnoText(errno);
    return false;
  }
  auto isLinkLocal = [](const sockaddr *address) {
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6 *>(address)->sin6_addr);
  };
  // Best first: the wished one or a real interface before loopback, IPv4 before IPv6, and last what
  // other hosts cannot reach, as it names this host's interface.
  int best = 0;
  for (ifaddrs *at = all; at; at = at->ifa_next) {
    int kind = at->ifa_addr ? at->ifa_addr->sa_family : AF_UNSPEC;
    if ((kind != AF_INET && kind != AF_INET6) || !(at->ifa_flags & IFF_UP) ||
        (family == "inet4" && kind != AF_INET) || (family == "inet6" && kind != AF_INET6) ||
        (!name.empty() && name != at->ifa_name))
      continue;
    bool loopback = (at->ifa_flags & IFF_LOOPBACK) != 0;
    if (name.empty() && !loopback && isVirtual(at->ifa_name))
      continue;
    int score = 1 + (kind == AF_INET) + (loopback ? 0 : 2) + (isLinkLocal(at->ifa_addr) ? 0 : 4);
    if (score <= best)
      continue;
    best = score;
    out = {};
    out.length = kind == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    std::memcpy(&out.storage, at->ifa_addr, out.length);
  }
  freeifaddrs(all);
  if (best == 0)
    error = wish.empty() ? "no network interface has an address"
                         : "SHMEM_UID_SOCK_IFNAME=" + wish +
                               ": there is no such interface that is "
                               "up and has such an address";
  return best != 0;
}

int makeUniqueId(aclshmemx_uniqueid_t &out) {
  SocketAddress address;
  std::string error;
  if (!chooseAddress(address, error))
    return report(ACLSHMEM_BOOTSTRAP_ERROR, "aclshmemx_get_uniqueid: " + error);
  Fd fd = listenAt(address, error);
  if (!fd)
    return report(ACLSHMEM_BOOTSTRAP_ERROR, "aclshmemx_get_uniqueid: " + error);
  Inner inner = {};
  if (getrandom(&inner.session, sizeof(inner.session), 0) != sizeof(inner.session))
    return reportErrno(ACLSHMEM_INNER_ERROR, "aclshmemx_get_uniqueid: no random numbers", errno);
  inner.session |= 1; // 0 means no session
  SocketAddress bound = localAddress(fd.get());
  inner.family = bound.storage.ss_family;
  inner.length = bound.length;
  std::memcpy(inner.address, &bound.storage, std::min<size_t>(bound.length, sizeof(inner.address)));
  out = {};
  out.version = kVersion;
  std::memcpy(out.internal, &inner, sizeof(inner));
  Listeners &known = listeners();
  std::lock_guard lock(known.mutex);
  known.bySession[inner.session] = std::move(fd);
  return ACLSHMEM_SUCCESS;
}

bool readUniqueId(const aclshmemx_uniqueid_t &uid, UniqueIdContent &out, std::string &error) {
  Inner inner;
  std::memcpy(&inner, uid.internal, sizeof(inner));
  bool v4 = inner.family == AF_INET && inner.length == sizeof(sockaddr_in);
  bool v6 = inner.family == AF_INET6 && inner.length == sizeof(sockaddr_in6);
  if (uid.version != kVersion || inner.session == 0 || (!v4 && !v6)) {
    error = "the unique id is none that aclshmemx_get_uniqueid made (version " +
            std::to_string(uid.version) + ", expected " + std::to_string(kVersion) + ")";
    return false;
  }
  out.address.length = inner.length;
  std::memcpy(&out.address.storage, inner.address, inner.length);
  out.session = inner.session;
  return true;
}

Fd takeUniqueIdListener(uint64_t session) {
  Listeners &known = listeners();
  std::lock_guard lock(known.mutex);
  auto at = known.bySession.find(session);
  if (at == known.bySession.end())
    return Fd();
  Fd fd = std::move(at->second);
  known.bySession.erase(at);
  return fd;
}

} // namespace piton::shmem
