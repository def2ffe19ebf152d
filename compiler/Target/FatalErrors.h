// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM reports what its code generator cannot do by ending the process. Under this guard
// it is a failure with a text, so that one kernel does not take the user's program along.
#ifndef PITON_COMPILER_TARGET_FATALERRORS_H
#define PITON_COMPILER_TARGET_FATALERRORS_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace piton {

/// Runs `work`; false and LLVM's reason when LLVM gave up fatally on this thread. What
/// `work` had built by then is abandoned: the caller must not destroy the module, its
/// context or the target machine, whose state is unknown.
bool runCatchingFatalErrors(llvm::function_ref<void()> work, std::string &reason);

} // namespace piton

#endif // PITON_COMPILER_TARGET_FATALERRORS_H
