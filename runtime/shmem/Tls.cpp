// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TLS with OpenSSL. Both sides present certificates; TLS 1.2 is the oldest version accepted.

#include "runtime/shmem/Tls.h"

#include "runtime/shmem/Report.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <map>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

namespace piton::shmem {

namespace {

/// Takes the thread's OpenSSL errors as text.
std::string openSslError() {
  std::string out;
  while (unsigned long code = ERR_get_error()) {
    char text[256];
    ERR_error_string_n(code, text, sizeof(text));
    const char *reason = ERR_reason_error_string(code);
    out += (out.empty() ? "" : "; ") + std::string(reason ? reason : text);
  }
  return out.empty() ? "unknown error" : out;
}

using Context = std::shared_ptr<SSL_CTX>;

class TlsChannel final : public Channel {
public:
  TlsChannel(Fd socket, Context context, bool serves)
      : Channel(std::move(socket)), context(std::move(context)), ssl(SSL_new(this->context.get())) {
    SSL_set_fd(ssl, fd());
    if (serves)
      SSL_set_accept_state(ssl);
    else
      SSL_set_connect_state(ssl);
  }
  ~TlsChannel() override {
    if (SSL_is_init_finished(ssl)) {
      ERR_clear_error();
      SSL_shutdown(ssl);
    }
    SSL_free(ssl);
    ERR_clear_error();
  }

  Io handshake() override {
    ERR_clear_error();
    errno = 0;
    int done = SSL_do_handshake(ssl);
    if (done == 1)
      return Io::Done;
    Io io = outcome(done);
    if (io != Io::Failed)
      return io;
    std::string why = failure;
    if (long verdict = SSL_get_verify_result(ssl); verdict != X509_V_OK)
      why = std::string(kCertificateRefused) + X509_verify_cert_error_string(verdict);
    failure = "TLS handshake failed: " + why;
    return Io::Failed;
  }

  Io read(void *data, size_t size, size_t &got) override {
    ERR_clear_error();
    errno = 0;
    int n = SSL_read(ssl, data, static_cast<int>(std::min<size_t>(size, INT_MAX)));
    if (n > 0) {
      got = static_cast<size_t>(n);
      return Io::Done;
    }
    return outcome(n);
  }

  Io write(const void *data, size_t size, size_t &put) override {
    ERR_clear_error();
    errno = 0;
    int n = SSL_write(ssl, data, static_cast<int>(std::min<size_t>(size, INT_MAX)));
    if (n > 0) {
      put = static_cast<size_t>(n);
      return Io::Done;
    }
    return outcome(n);
  }

  bool hasBuffered() const override { return SSL_pending(ssl) > 0; }

private:
  Io outcome(int result) {
    int error = errno;
    switch (SSL_get_error(ssl, result)) {
    case SSL_ERROR_WANT_READ:
      return Io::WantRead;
    case SSL_ERROR_WANT_WRITE:
      return Io::WantWrite;
    case SSL_ERROR_ZERO_RETURN:
      return Io::Closed;
    case SSL_ERROR_SYSCALL:
      if (error == 0 || error == ECONNRESET || error == EPIPE)
        return Io::Closed; // a killed process says no goodbye
      failure = errnoText(error);
      return Io::Failed;
    default:
      if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
        return Io::Closed;
      failure = openSslError();
      return Io::Failed;
    }
  }

  Context context; ///< outlives the connection
  SSL *ssl;
};

//===-- Settings ----------------------------------------------------------------------------===//

using Pairs = std::map<std::string, std::string>;

std::string trimmed(std::string text) {
  auto blank = [](unsigned char c) { return std::isspace(c) != 0; };
  text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), blank));
  text.erase(std::find_if_not(text.rbegin(), text.rend(), blank).base(), text.end());
  return text;
}

bool parsePairs(const std::string &info, Pairs &out, std::string &error) {
  static constexpr const char *kKnown[] = {"tlsCaPath",  "tlsCaFile",  "tlsCert",  "tlsPk",
                                           "tlsCrlPath", "tlsCrlFile", "tlsPkPwd", "tlsPeerName"};
  for (size_t at = 0; at < info.size();) {
    size_t end = std::min(info.find(';', at), info.size());
    std::string item = trimmed(info.substr(at, end - at));
    at = end + 1;
    if (item.empty())
      continue;
    size_t equals = item.find('=');
    std::string key = trimmed(item.substr(0, equals));
    bool known = std::any_of(std::begin(kKnown), std::end(kKnown),
                             [&](const char *name) { return key == name; });
    if (equals == std::string::npos || !known) {
      error = "'" + item +
              "' is no setting; expected tlsCaFile=..., tlsCert=..., tlsPk=... and "
              "optionally tlsCaPath=, tlsCrlPath=, tlsCrlFile=, tlsPkPwd=, tlsPeerName=, "
              "separated by ';'";
      return false;
    }
    out[key] = trimmed(item.substr(equals + 1));
  }
  for (const char *needed : {"tlsCaFile", "tlsCert"})
    if (out[needed].empty()) {
      error = std::string(needed) + " is missing";
      return false;
    }
  return true;
}

/// A file that may be given relative to a folder.
std::string inFolder(const std::string &folder, const std::string &file) {
  return folder.empty() || file.empty() || file[0] == '/' ? file : folder + "/" + file;
}

/// The password of the private key in plain text.
bool plainPassword(const TlsSettings &settings, const Pairs &pairs, std::string &out,
                   std::string &error) {
  auto given = pairs.find("tlsPkPwd");
  std::string cipher =
      settings.password.empty() && given != pairs.end() ? given->second : settings.password;
  if (!settings.decrypt) {
    out = cipher;
    return true;
  }
  char plain[1024];
  size_t length = sizeof(plain);
  if (settings.decrypt(cipher.data(), cipher.size(), plain, &length) != 0 ||
      length > sizeof(plain)) {
    error = length > sizeof(plain)
                ? "the decrypt handler says that the password has " + std::to_string(length) +
                      " bytes; at most " + std::to_string(sizeof(plain)) + " are possible"
                : "the decrypt handler could not open the password of the private key";
    return false;
  }
  out.assign(plain, length);
  OPENSSL_cleanse(plain, sizeof(plain));
  return true;
}

int passwordCallback(char *buffer, int size, int, void *data) {
  const auto &password = *static_cast<const std::string *>(data);
  int length = std::min(size, static_cast<int>(password.size()));
  std::copy_n(password.data(), length, buffer);
  return length;
}

bool loadKey(SSL_CTX *context, const TlsSettings &settings, const Pairs &pairs,
             std::string &error) {
  std::string password;
  if (!plainPassword(settings, pairs, password, error))
    return false;
  if (password.size() > PEM_BUFSIZE) {
    error = "the password of the private key has " + std::to_string(password.size()) +
            " bytes; OpenSSL takes at most " + std::to_string(PEM_BUFSIZE);
    return false;
  }
  auto file = pairs.find("tlsPk");
  BIO *source = !settings.key.empty()
                    ? BIO_new_mem_buf(settings.key.data(), static_cast<int>(settings.key.size()))
                : file != pairs.end() ? BIO_new_file(file->second.c_str(), "r")
                                      : nullptr;
  std::string where = !settings.key.empty() ? "the private key of set_conf_store_tls_key"
                      : file != pairs.end() ? "tlsPk=" + file->second
                                            : "tlsPk";
  EVP_PKEY *key =
      source ? PEM_read_bio_PrivateKey(source, nullptr, passwordCallback, &password) : nullptr;
  BIO_free(source);
  OPENSSL_cleanse(password.data(), password.size());
  bool good = key && SSL_CTX_use_PrivateKey(context, key) == 1;
  EVP_PKEY_free(key);
  if (!good)
    error = where + (source ? ": " + openSslError() : " is missing");
  else if (SSL_CTX_check_private_key(context) != 1)
    error = where + " does not belong to tlsCert: " + openSslError();
  return error.empty();
}

bool loadRevocations(SSL_CTX *context, const Pairs &pairs, std::string &error) {
  auto get = [&](const char *name) {
    auto at = pairs.find(name);
    return at == pairs.end() ? std::string() : at->second;
  };
  std::string file = inFolder(get("tlsCrlPath"), get("tlsCrlFile"));
  if (file.empty())
    return true;
  X509_STORE *store = SSL_CTX_get_cert_store(context);
  X509_LOOKUP *lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());
  if (!lookup || X509_load_crl_file(lookup, file.c_str(), X509_FILETYPE_PEM) < 1) {
    error = "tlsCrlFile=" + file + ": " + openSslError();
    return false;
  }
  X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
  return true;
}

/// Lets only those in whose certificates have the name, be it a host's or an address.
bool expectName(SSL_CTX *context, const std::string &name, std::string &error) {
  X509_VERIFY_PARAM *checks = SSL_CTX_get0_param(context);
  if (name.empty() || X509_VERIFY_PARAM_set1_ip_asc(checks, name.c_str()) == 1 ||
      X509_VERIFY_PARAM_set1_host(checks, name.c_str(), name.size()) == 1)
    return true;
  error = "tlsPeerName=" + name + " is no name that a certificate can have";
  return false;
}

Context makeContext(const TlsSettings &settings, Pairs pairs, std::string &error) {
  Context context(SSL_CTX_new(TLS_method()), SSL_CTX_free);
  SSL_CTX *raw = context.get();
  SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                            SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(raw, 0);
  SSL_CTX_set_verify(raw, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  std::string ca = inFolder(pairs["tlsCaPath"], pairs["tlsCaFile"]);
  if (SSL_CTX_load_verify_locations(raw, ca.c_str(), nullptr) != 1)
    error = "tlsCaFile=" + ca + ": " + openSslError();
  else if (SSL_CTX_use_certificate_chain_file(raw, pairs["tlsCert"].c_str()) != 1)
    error = "tlsCert=" + pairs["tlsCert"] + ": " + openSslError();
  else if (expectName(raw, pairs["tlsPeerName"], error) && loadKey(raw, settings, pairs, error))
    loadRevocations(raw, pairs, error);
  return error.empty() ? context : nullptr;
}

} // namespace

bool makeTls(const TlsSettings &settings, ChannelMaker &serving, ChannelMaker &connecting,
             std::string &error) {
  Pairs pairs;
  if (!parsePairs(settings.info, pairs, error))
    return false;
  ERR_clear_error();
  Context context = makeContext(settings, pairs, error);
  if (!context)
    return false;
  auto maker = [context](bool serves) -> ChannelMaker {
    return [context, serves](Fd socket) -> std::unique_ptr<Channel> {
      return std::make_unique<TlsChannel>(std::move(socket), context, serves);
    };
  };
  serving = maker(true);
  connecting = maker(false);
  return true;
}

} // namespace piton::shmem
