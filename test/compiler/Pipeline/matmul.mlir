// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/matmul.ttir --emit=ttir --g=false | FileCheck %s --check-prefix=TTIR
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/matmul.ttir --emit=ttadapter --g=false | FileCheck %s --check-prefix=ADAPTER
// The tutorial's matrix multiplication: one dot in one loop at every stage.

// TTIR-LABEL:    tt.func public @matmul(
// TTIR-NOT:      tt.call
// TTIR:          scf.for
// TTIR:            tt.dot
// TTIR:          tt.store
// ADAPTER-LABEL: func.func @matmul(
// ADAPTER-SAME:    mix_mode = "mix"
// ADAPTER:       scf.for
// ADAPTER:         linalg.matmul {{.*}} ins(%{{.*}}, %{{.*}} : tensor<32x32xf16>, tensor<32x64xf16>) outs(%{{.*}} : tensor<32x64xf32>)
// ADAPTER:       bufferization.materialize_in_destination
