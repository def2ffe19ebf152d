// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/atomics.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/attention.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/block_pointers.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/bools.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/debug_ops.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/descriptors.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/dot_scaled.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/early_return.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/hints.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/histogram.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/host_descriptor.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/inline_assembly.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/layer_norm_backward.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/layer_norm_forward.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/map_elementwise.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/math_ops.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/matmul.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/noinline_call.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/scans.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/shapes.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/softmax.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/sort_rows.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/tuples.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/vector_add.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/while_loop.ttir --emit=ttadapter --g=false --reproducer=none | FileCheck %s --check-prefix=HANDOVER
// Every kernel that stock Triton printed, as traced, reaches the hand-over point: one kernel with
// the launcher's signature, and nothing of Triton left but attributes of its arguments.

// HANDOVER:      func.func @{{[a-z_]+}}(%{{.*}}: memref<?xi8>, %{{.*}}: memref<?xi8>,
// HANDOVER-SAME: SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, global_kernel = "local"
// HANDOVER-NOT:  {{= tt[.]|^ +tt[.]}}
// HANDOVER-NOT:  !tt.
// HANDOVER:      return
