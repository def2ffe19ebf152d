// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/early_return.ttir --emit=ttir --g=false | FileCheck %s --check-prefix=TTIR
// RUN: piton-compile %source_root/test/compiler/Dialect/Triton/stock/early_return.ttir --emit=ttadapter --g=false | FileCheck %s --check-prefix=ADAPTER
// Early returns are structured before anything else looks at them.

// TTIR-LABEL:    tt.func public @early_return(
// TTIR-NOT:      {{ }}cf.
// TTIR:          scf.if
// TTIR:          tt.return
// TTIR-NOT:      tt.return
// ADAPTER-LABEL: func.func @early_return(
// ADAPTER:       scf.if
// ADAPTER:       return
