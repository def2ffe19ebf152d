// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a kernel's object code to a shared object, by lld inside this process.
#ifndef PITON_COMPILER_TARGET_LINK_H
#define PITON_COMPILER_TARGET_LINK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace piton {

/// Links the object with the soft helpers that it calls, against libm and libmvec. All files are in
/// memory: whenever the process is killed, none stays behind. Thread-safe.
llvm::Expected<std::string> linkObject(llvm::StringRef object);

} // namespace piton

#endif // PITON_COMPILER_TARGET_LINK_H
