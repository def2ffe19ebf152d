// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the symmetric heap reports errors and logs. Whoever finds an error writes its message with
// report(), which stores it for this thread (piton_last_error, aclshmemx_last_status) and logs it;
// callers pass the code on.
#ifndef PITON_RUNTIME_SHMEM_REPORT_H
#define PITON_RUNTIME_SHMEM_REPORT_H

#include "piton/shmem.h"

#include <string>

namespace piton::shmem {

enum class LogLevel : int { Debug = 0, Info, Warning, Error, Fatal };

/// Stores `message` as this thread's last error, logs it and returns `code`.
int report(int code, std::string message);

/// As report(), with ": " and the text of the errno value appended.
int reportErrno(int code, std::string message, int error);

/// Text of an errno value.
std::string errnoText(int error);

/// Code of the last report() of this thread since clearStatus(), else ACLSHMEM_SUCCESS.
int lastStatus();
void clearStatus();

void log(LogLevel level, const std::string &message);
bool logs(LogLevel level);
int setLogLevel(int level);
void setExternLogger(void (*logger)(int level, const char *message));

} // namespace piton::shmem

#endif // PITON_RUNTIME_SHMEM_REPORT_H
