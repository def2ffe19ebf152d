// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nothing: the source of the stub shared objects that only carry a soname.
