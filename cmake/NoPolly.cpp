// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Debian builds LLVM's archives with Polly as a static extension but ships Polly apart.
// Programs that link the archives get this extension instead, which adds nothing.
#include "llvm/Plugins/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo();

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "no-polly", "1", [](llvm::PassBuilder &) {}};
}
