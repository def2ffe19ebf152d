// RUN: not piton-compile %t.absent 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: %python -c "print('#a = ' + '[' * 10000 + ']' * 10000)" > %t.deep
// RUN: not piton-compile %t.deep 2>&1 | FileCheck %s --check-prefix=DEEP
// RUN: %python -c "print('#m = affine_map<(d0) -> (' + '-' * 100000 + 'd0)>')" > %t.minus
// RUN: not piton-compile %t.minus 2>&1 | FileCheck %s --check-prefix=DEEP
// RUN: %python -c "import sys; sys.stdout.buffer.write(b'module {}' + bytes(1))" > %t.nul
// RUN: not piton-compile %t.nul 2>&1 | FileCheck %s --check-prefix=NUL
// RUN: %python -c "import sys; sys.stdout.buffer.write(b'ML\xefR' + bytes([13, 1, 2]))" > %t.bc
// RUN: not piton-compile %t.bc 2>&1 | FileCheck %s --check-prefix=BYTECODE
// RUN: echo 'tt.func @f() { "no.such"() : () -> () tt.return }' > %t.unknown
// RUN: not piton-compile %t.unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: head -c 60 %t.unknown | head -c 20 > %t.short
// RUN: not piton-compile %t.short 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: not piton-compile --emit=ptx %s 2>&1 | FileCheck %s --check-prefix=EMIT
// RUN: not piton-compile --emitt=ttir %s 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: not piton-compile --discrete-mask=fast %s 2>&1 | FileCheck %s --check-prefix=MASK
// RUN: not piton-compile --emit=ttadapter --reproducer=none %s -o /no/such/folder/x 2>&1 | FileCheck %s --check-prefix=OUT
// Every kind of bad input is one clear error, never a crash.

// ABSENT:   piton-compile: cannot open input file
// DEEP:     error: line 1 nests brackets deeper than 512, the limit for a module
// NUL:      error: the module is no text: byte 9 is zero
// BYTECODE: error:
// UNKNOWN:  error: operation being parsed with an unregistered dialect
// SHORT:    error:
// EMIT:     --emit=ptx is none of ttir, ttadapter, npubin, bisheng-mlir
// FLAG:     unknown flag '--emitt=ttir' (--help lists them)
// MASK:     --discrete-mask=fast is neither exact nor documented
// OUT:      piton-compile:

module {
  tt.func @empty() {
    tt.return
  }
}
