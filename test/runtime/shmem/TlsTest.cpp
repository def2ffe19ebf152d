// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TLS and unique ids: certificates that are right, wrong, expired, revoked or missing, mixed
// settings, sessions that must not meet. The certificates are made by the openssl program.

#include "test/runtime/shmem/Faults.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace piton;
using namespace piton::test;
namespace fs = std::filesystem;

namespace {

/// A folder with two authorities and certificates of theirs; made once.
class Certificates {
public:
  static const Certificates &get() {
    static Certificates instance;
    return instance;
  }
  ~Certificates() {
    if (getpid() == owner)
      fs::remove_all(folder);
  }
  bool usable() const { return good; }
  /// Settings with the named certificate.
  std::string info(const std::string &name, const std::string &authority = "ca") const {
    return "tlsCaPath=" + folder + ";tlsCaFile=" + authority + ".pem;tlsCert=" + folder + "/" +
           name + ".pem;tlsPk=" + folder + "/" + name + ".key";
  }
  std::string folder;

private:
  Certificates() : owner(getpid()) {
    char name[] = "/tmp/piton-tls-XXXXXX";
    folder = mkdtemp(name);
    std::string script = "cd " + folder + R"( && exec >/dev/null 2>&1
      for a in ca other; do openssl req -x509 -newkey rsa:2048 -nodes -keyout $a.key -out $a.pem -subj /CN=$a -days 30 || exit 1; done
      make() { openssl req -newkey rsa:2048 -nodes -keyout $1.key -out $1.csr -subj /CN=$1 && openssl x509 -req -in $1.csr -CA $2.pem -CAkey $2.key -CAcreateserial -out $1.pem $3 $4 $5 $6 || exit 1; }
      make good ca -days 30; printf subjectAltName=DNS:pe.example,IP:10.1.2.3 > names; make named ca -days 30 -extfile names; make stranger other -days 30; make expired ca -days -1; make revoked ca -days 30
      openssl rsa -aes256 -passout pass:secret -in good.key -out locked.key && cp good.pem locked.pem || exit 1
      touch index.txt; echo 01 > crlnumber
      printf '[ca]\ndefault_ca=d\n[d]\ndatabase=index.txt\ncrlnumber=crlnumber\ndefault_md=sha256\ndefault_crl_days=30\n' > ca.cnf
      openssl ca -config ca.cnf -keyfile ca.key -cert ca.pem -revoke revoked.pem &&
      openssl ca -config ca.cnf -keyfile ca.key -cert ca.pem -gencrl -out crl.pem)";
    good = std::system(("sh -c '" + replaced(script, "'", "'\\''") + "'").c_str()) == 0;
  }
  static std::string replaced(std::string text, const std::string &from, const std::string &to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
    return text;
  }
  pid_t owner;
  bool good = false;
};

int initialize(int pe, int count, const std::string &url, const std::string &info,
               int timeout = 20) {
  aclshmemx_set_conf_store_tls(!info.empty(), info.data(), static_cast<uint32_t>(info.size()));
  aclshmemx_init_attr_t attr = attributes(pe, count, url);
  attr.option_attr.shm_init_timeout = static_cast<uint32_t>(timeout);
  return aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr);
}

/// PEs 0 and 1 form a job with good certificates; a third process comes with `info` as PE 1 while
/// the job is starting and must be refused with `text`.
void strangerIsRefused(const std::string &jobInfo, const std::string &info,
                       const std::string &text) {
  std::string url = freeUrl();
  SharedCount refused;
  expectAll(runProcesses(3, [&](int process) {
    if (process == 2) {
      awaitListener(url);
      expectError(initialize(1, 2, url, info), text);
      refused.add();
      return 0;
    }
    if (process == 1)
      refused.await(1);
    EXPECT_EQ(initialize(process, 2, url, jobInfo), 0) << piton_last_error();
    aclshmem_barrier_all();
    EXPECT_EQ(aclshmemx_last_status(), 0) << piton_last_error();
    EXPECT_EQ(aclshmem_finalize(), 0) << piton_last_error();
    return 0;
  }));
}

#define NEEDS_CERTIFICATES(name)                                                                   \
  const Certificates &name = Certificates::get();                                                  \
  if (!name.usable())                                                                              \
  GTEST_SKIP() << "the openssl program could not make certificates"

} // namespace

TEST(Tls, AJobWithGoodCertificatesRuns) {
  NEEDS_CERTIFICATES(certificates);
  std::string url = freeUrl();
  expectAll(runProcesses(3, [&](int pe) {
    for (int round = 0; round < 5; ++round) {
      EXPECT_EQ(initialize(pe, 3, url, certificates.info("good")), 0) << piton_last_error();
      for (int i = 0; i < 20; ++i)
        EXPECT_TRUE(aclshmem_malloc(64)) << piton_last_error();
      EXPECT_EQ(aclshmem_finalize(), 0) << piton_last_error();
    }
    return 0;
  }));
}

TEST(Tls, WrongCertificatesAreRefusedAndTheJobRuns) {
  NEEDS_CERTIFICATES(c);
  std::string good = c.info("good");
  strangerIsRefused(good, c.info("stranger"), "did not accept this PE's certificate");
  strangerIsRefused(good, c.info("expired"), "did not accept this PE's certificate");
  strangerIsRefused(good + ";tlsCrlFile=" + c.folder + "/crl.pem", c.info("revoked"),
                    "did not accept this PE's certificate");
  strangerIsRefused(good, c.info("good", "other"), "the other side's certificate is not accepted");
}

TEST(Tls, CertificatesOfAnotherNameAreRefusedWhereAskedFor) {
  NEEDS_CERTIFICATES(c);
  std::string named = c.info("named") + ";tlsPeerName=";
  strangerIsRefused(named + "pe.example", c.info("good") + ";tlsPeerName=pe.example",
                    "did not accept this PE's certificate");
  strangerIsRefused(named + "10.1.2.3", named + "other.example",
                    "the other side's certificate is not accepted");
}

TEST(Tls, Pe0IsToldThatItIsItsOwnCertificate) {
  NEEDS_CERTIFICATES(c);
  expectAll(runProcesses(1, [&](int) {
    expectError(initialize(0, 1, freeUrl(), c.info("expired")),
                "certificate has expired; that is this PE's own tlsCert");
    expectError(initialize(0, 1, freeUrl(), c.info("good", "other")), "this PE's own tlsCert");
    return 0;
  }));
}

TEST(Tls, MixedSettingsAreNamed) {
  NEEDS_CERTIFICATES(c);
  strangerIsRefused(c.info("good"), "", "PE 0 uses TLS and this PE does not");
  strangerIsRefused("", c.info("good"), "this PE uses TLS, and every PE must");
}

TEST(Tls, GarbageAtThePortHarmsNobody) {
  NEEDS_CERTIFICATES(c);
  expectUnharmedByGarbage(std::string("\x16\x03\x01\x02\x00\x01", 6), "PITN",
                          [&](int pe, int count, const std::string &url) {
                            return initialize(pe, count, url, c.info("good"));
                          });
}

TEST(Tls, SettingsThatCannotBeUsedAreNamed) {
  NEEDS_CERTIFICATES(c);
  expectAll(runProcesses(1, [&](int) {
    std::string url = freeUrl(), f = c.folder + "/";
    expectError(initialize(0, 1, url, "tlsCaFile=x"), "tlsCert is missing");
    expectError(initialize(0, 1, url, "certificate=x"), "'certificate=x' is no setting");
    expectError(initialize(0, 1, url, "tlsCaFile=/none;tlsCert=x;tlsPk=y"), "tlsCaFile=/none");
    expectError(initialize(0, 1, url, "tlsCaFile=" + f + "ca.pem;tlsCert=" + f + "good.pem"),
                "tlsPk is missing");
    expectError(initialize(0, 1, url,
                           "tlsCaFile=" + f + "ca.pem;tlsCert=" + f + "good.pem;tlsPk=" + f +
                               "revoked.key"),
                "revoked.key");
    expectError(initialize(0, 1, url, c.info("locked")), "locked.key");
    // A locked key with its password, through a handler that opens it.
    auto decrypt = [](const char *cipher, size_t length, char *plain, size_t *plainLength) {
      std::string text(cipher, length);
      if (text != "terces")
        return -1;
      std::memcpy(plain, "secret", 6);
      *plainLength = 6;
      return 0;
    };
    aclshmemx_set_config_store_tls_key(nullptr, 0, "wrong", 5, decrypt);
    expectError(initialize(0, 1, url, c.info("locked")), "decrypt handler");
    aclshmemx_set_config_store_tls_key(nullptr, 0, "terces", 6, decrypt);
    EXPECT_EQ(initialize(0, 1, url, c.info("locked")), 0) << piton_last_error();
    EXPECT_EQ(aclshmem_finalize(), 0);
    return 0;
  }));
}

TEST(UniqueId, TheJobMeetsAndOthersStayOut) {
  auto *shared = static_cast<aclshmemx_uniqueid_t *>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (int round = 0; round < 3; ++round) {
    std::memset(static_cast<void *>(shared), 0, 4096);
    SharedCount refused;
    expectAll(runProcesses(3, [&](int pe) {
      aclshmemx_set_conf_store_tls(false, "", 0);
      if (pe == 0) {
        setenv("SHMEM_UID_SESSION_ID", "127.0.0.1", 1);
        aclshmemx_uniqueid_t uid;
        EXPECT_EQ(aclshmemx_get_uniqueid(&uid), 0) << piton_last_error();
        std::memcpy(shared->internal, uid.internal, sizeof(uid.internal));
        __atomic_store_n(&shared->version, uid.version, __ATOMIC_RELEASE);
      }
      while (__atomic_load_n(&shared->version, __ATOMIC_ACQUIRE) == 0)
        usleep(1000);
      aclshmemx_uniqueid_t uid = *shared;
      aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_DEFAULT;
      if (pe == 2) { // another job's id with this address
        uid.internal[40] = static_cast<char>(uid.internal[40] ^ 1);
        EXPECT_EQ(aclshmemx_set_attr_uniqueid_args(1, 2, 1 << 20, &uid, &attr), 0);
        expectError(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_UNIQUEID, &attr),
                    "belongs to another job");
        refused.add();
        return 0;
      }
      if (pe == 1)
        refused.await(1);
      EXPECT_EQ(aclshmemx_set_attr_uniqueid_args(pe, 2, 1 << 20, &uid, &attr), 0);
      EXPECT_EQ(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_UNIQUEID, &attr), 0) << piton_last_error();
      EXPECT_EQ(aclshmem_finalize(), 0) << piton_last_error();
      return 0;
    }));
  }
  munmap(shared, 4096);
}

TEST(UniqueId, WhatIsNoIdIsRefused) {
  expectAll(runProcesses(1, [&](int) {
    aclshmemx_set_conf_store_tls(false, "", 0);
    aclshmemx_uniqueid_t uid = {};
    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_DEFAULT;
    EXPECT_EQ(aclshmemx_set_attr_uniqueid_args(0, 1, 1 << 20, &uid, &attr), 0);
    expectError(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_UNIQUEID, &attr), "the unique id is none");
    attr.comm_args = nullptr;
    expectError(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_UNIQUEID, &attr), "comm_args is null");
    EXPECT_EQ(aclshmemx_set_attr_uniqueid_args(0, 1, 41ll << 30, &uid, &attr),
              ACLSHMEM_INVALID_VALUE);
    EXPECT_EQ(aclshmemx_get_uniqueid(nullptr), ACLSHMEM_INVALID_PARAM);
    return 0;
  }));
}
