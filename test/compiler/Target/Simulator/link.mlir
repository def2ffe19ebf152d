// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel is linked in memory: no file is made that a killed process would leave behind.
// RUN: env TMPDIR=%t.no-such-folder piton-compile %s --emit=npubin --reproducer=none -o %t.npubin
// RUN: %python -c "import sys; b = open(sys.argv[1], 'rb').read(); open(sys.argv[2], 'wb').write(b[b.index(b'\x7fELF'):])" %t.npubin %t.so
// RUN: llvm-readelf --dynamic --dyn-syms %t.so | FileCheck %s

// CHECK: (NEEDED) Shared library: [libm.so.6]
// CHECK: UND atan2
// CHECK: piton_entry_k

tt.func public @k(%x: !tt.ptr<f64>) {
  %a = tt.load %x : !tt.ptr<f64>
  %b = math.atan2 %a, %a : f64
  tt.store %x, %b : !tt.ptr<f64>
  tt.return
}
