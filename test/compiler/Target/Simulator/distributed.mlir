// REQUIRES: distributed
// RUN: piton-compile %s --emit=npubin --dump --reproducer=none -o %t 2>&1 | FileCheck %s --check-prefix=LLVM
// RUN: piton-compile %s --emit=ttadapter -o - | piton-opt --sim-prepare | FileCheck %s --check-prefix=PREPARE
// RUN: piton-compile %s --emit=npubin -o %t.npubin
// RUN: %python -c "import sys; b = open(sys.argv[1], 'rb').read(); open(sys.argv[2], 'wb').write(b[b.index(b'\x7fELF'):])" %t.npubin %t.so
// RUN: llvm-readelf --relocations --dyn-syms %t.so | FileCheck %s --check-prefix=IMAGE
//
// my_pe is one load from a constant address, and symm_at is arithmetic on the state there: nothing
// is called, relocated or patched for them. A token costs nothing.

// IMAGE: There are no relocations in this file.
// IMAGE-NOT: UND {{[a-z]}}
// IMAGE: piton_entry_k
// IMAGE-NOT: UND {{[a-z]}}

// PREPARE: func.func @k
// PREPARE: call @_mlir_ciface_aclshmem_my_pe() : () -> i32
// PREPARE: call @_mlir_ciface_aclshmem_ptr_float(%{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr, i32) -> ()
// PREPARE: call @_mlir_ciface_aclshmem_wait_int32(%{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, i32, i32) -> i32
// PREPARE-NOT: consume_token

// LLVM: // -----// llvm //----- //
// LLVM: define {{.*}}@k(
// LLVM: load i32, ptr inttoptr (i64 26387171835908 to ptr)
// LLVM-NOT: call {{.*}}aclshmem
// LLVM-NOT: piton_block_context
// LLVM: load {{ptr|i64}}, ptr inttoptr (i64 26387171835936 to ptr)
// LLVM-NOT: call {{.*}}aclshmem
// LLVM-NOT: piton_block_context
// LLVM: // -----// asm //----- //

tt.func public @k(%x: !tt.ptr<f32>, %sig: !tt.ptr<i32>, %out: !tt.ptr<f32>, %n: i32) {
  %c1 = arith.constant 1 : i32
  %me = distributed.get_rank %n : i32
  %f = arith.sitofp %me : i32 to f32
  tt.store %out, %f : !tt.ptr<f32>
  %r = distributed.symm_at %x, %n, : !tt.ptr<f32>
  %tok = distributed.wait %sig, %n, %c1, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %p = distributed.consume_token %r, %tok, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %v = tt.load %p : !tt.ptr<f32>
  tt.store %out, %v : !tt.ptr<f32>
  tt.return
}
