// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the fuzzer and the replay of its corpus share.
#ifndef PITON_TEST_FUZZ_TTIRFUZZER_H
#define PITON_TEST_FUZZ_TTIRFUZZER_H

#include "llvm/ADT/StringRef.h"

namespace piton {

/// Parses and compiles `input` up to the hand-over IR; aborts on an invalid result.
void fuzzOne(llvm::StringRef input);

} // namespace piton

#endif // PITON_TEST_FUZZ_TTIRFUZZER_H
