// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replays files through the fuzz target in an ordinary build: as they are, cut short
// and with single bytes changed, always in the same way. Any crash ends the process,
// which is the failure.
#include "test/fuzz/TtirFuzzer.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <string>

/// A small generator of its own, so that every build replays the same changes.
static unsigned nextRandom(unsigned &state) {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

static std::string change(const std::string &text, unsigned kind, unsigned &state) {
  std::string changed = text;
  size_t at = nextRandom(state) % changed.size();
  switch (kind % 4) {
  case 0:
    changed.resize(at);
    break;
  case 1:
    changed.erase(at, 1 + nextRandom(state) % 8);
    break;
  case 2:
    changed[at] = "0129-%^:<>{}[]()x,!"[nextRandom(state) % 19];
    break;
  default:
    changed.insert(at, changed.substr(nextRandom(state) % changed.size(), 12));
  }
  return changed;
}

static void replay(llvm::StringRef path, unsigned changes) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file) {
    llvm::errs() << "cannot read " << path << "\n";
    std::exit(1);
  }
  std::string text = (*file)->getBuffer().str();
  piton::fuzzOne(text);
  unsigned state = 12345;
  for (unsigned i = 0; i < changes && !text.empty(); ++i)
    piton::fuzzOne(change(text, i, state));
}

int main(int argc, char **argv) {
  if (argc < 3) {
    llvm::errs() << "usage: ttir-replay <changes per file> <files>\n";
    return 2;
  }
  for (int i = 2; i < argc; ++i) {
    llvm::outs() << argv[i] << "\n"; // the last name printed is the one that crashed
    llvm::outs().flush();
    replay(argv[i], std::strtoul(argv[1], nullptr, 10));
  }
  return 0;
}
