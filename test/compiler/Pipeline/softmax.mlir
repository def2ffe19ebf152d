// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/softmax.ttir --emit=ttir --g=false | FileCheck %s --check-prefix=TTIR
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/softmax.ttir --emit=ttadapter --g=false | FileCheck %s --check-prefix=ADAPTER
// Rows under a mask: one load, two reductions, one store.

// TTIR-LABEL:    tt.func public @softmax(
// TTIR:          scf.for
// TTIR:            tt.load
// TTIR:            "tt.reduce"
// TTIR:            math.exp
// TTIR:            "tt.reduce"
// TTIR:            tt.store
// ADAPTER-LABEL: func.func @softmax(
// ADAPTER-SAME:    mix_mode = "aiv"
// ADAPTER:       scf.for
// ADAPTER:         memref.copy
// ADAPTER:         linalg.reduce
// ADAPTER:         math.exp %{{.*}} : tensor<256xf32>
// ADAPTER:         linalg.reduce
// ADAPTER:         bufferization.materialize_in_destination
