// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU that an image is made for, and what LLVM's code generator refuses. A kernel with
// an AVX-512 instruction for a CPU without it makes LLVM end the process;
// here it is an error of the compilation like any other, and the tool leaves as usual.
// RUN: not piton-compile %s --from=ttadapter --host-cpu=x86-64-v3 --reproducer=none -o %t 2>&1 | FileCheck %s --check-prefix=SELECT
// RUN: piton-compile %s --from=ttadapter --host-cpu=x86-64-v4 --reproducer=none -o %t
// RUN: not env PITON_HOST_CPU=x86-64-v3 piton-compile %s --from=ttadapter --reproducer=none -o %t 2>&1 | FileCheck %s --check-prefix=SELECT
// RUN: not piton-compile %s --from=ttadapter --host-cpu=pentium9 --reproducer=none -o %t 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not piton-compile %s --from=ttadapter --host-cpu=nehalem --reproducer=none -o %t 2>&1 | FileCheck %s --check-prefix=OLD

// SELECT: cpu.mlir:[[#@LINE+5]]:3: error: LLVM cannot generate code for this kernel on CPU 'x86-64-v3': {{.+}}; please report
// NAME: error: no CPU is called 'pentium9'
// OLD: error: CPU 'nehalem' has no AVX2, FMA and F16C, which kernels need

module {
  func.func @kernel(%arg0: memref<?xi8>, %arg1: memref<?xi8>, %out: memref<?xf32>,
                    %n0: i32, %n1: i32, %n2: i32, %p0: i32, %p1: i32, %p2: i32)
      attributes {global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {
    %c0 = arith.constant 0 : index
    %two = arith.constant dense<2.0> : vector<16xf32>
    %all = arith.constant -1 : i16
    %round = arith.constant 4 : i32
    %scaled = llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"(%two, %two, %two, %all, %round)
        : (vector<16xf32>, vector<16xf32>, vector<16xf32>, i16, i32) -> vector<16xf32>
    %first = llvm.extractelement %scaled[%round : i32] : vector<16xf32>
    memref.store %first, %out[%c0] : memref<?xf32>
    return
  }
}
