// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TLS for the control plane: every PE proves with a certificate that it belongs to the job, and
// checks that the other side does.
#ifndef PITON_RUNTIME_SHMEM_TLS_H
#define PITON_RUNTIME_SHMEM_TLS_H

#include "piton/shmem.h"
#include "runtime/shmem/ControlServer.h"

#include <string>

namespace piton::shmem {

/// What set_conf_store_tls and set_config_store_tls_key have said.
struct TlsSettings {
  bool enabled = true;
  std::string info;          ///< "key=value;..."
  std::string key, password; ///< PEM text in place of tlsPk; password of an encrypted key
  aclshmem_decrypt_handler decrypt = nullptr;
};

/// Begins the reason why a handshake ended over the other side's certificate.
inline constexpr char kCertificateRefused[] = "the other side's certificate is not accepted: ";

/// Reads keys and certificates. On success gives the makers of channels for the serving and the
/// connecting side; on failure says in `error` which setting or file is wrong.
bool makeTls(const TlsSettings &settings, ChannelMaker &serving, ChannelMaker &connecting,
             std::string &error);

} // namespace piton::shmem

#endif // PITON_RUNTIME_SHMEM_TLS_H
