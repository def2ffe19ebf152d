module {
  tt.func public @poll(%arg0: !tt.ptr<i32>, %arg1: !tt.ptr<i32>) {
    %c0_i32 = arith.constant 0 : i32
    %c7_i32 = arith.constant 7 : i32
    scf.while : () -> () {
      %0 = tt.load %arg0 {isVolatile = true} : !tt.ptr<i32>
      %1 = arith.cmpi eq, %0, %c0_i32 : i32
      scf.condition(%1)
    } do {
      scf.yield
    }
    tt.store %arg1, %c7_i32 : !tt.ptr<i32>
    tt.return
  }
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(convert-triton-distributed-to-hivm{pattern-benefit-prioritize-over-llvm-conversions=10}, rewrite-tensor-pointer, canonicalize{  max-iterations=10 max-num-rewrites=-1 region-simplify=normal test-convergence=false top-down=true}, cse, triton-to-structured{enable-linearize=true}, canonicalize{  max-iterations=10 max-num-rewrites=-1 region-simplify=normal test-convergence=false top-down=true}, cse, discrete-mask-access-conversion{mask-form=exact}, triton-to-annotation, triton-to-unstructured{force-scalarize-mode=false}, canonicalize{  max-iterations=10 max-num-rewrites=-1 region-simplify=normal test-convergence=false top-down=true}, cse, triton-to-hivm, triton-to-hfusion, triton-to-llvm{unroll-limit=16}, bubble-up-operation{enable-aggressive-mode=true}, triton-to-structured{enable-linearize=false}, canonicalize{  max-iterations=10 max-num-rewrites=-1 region-simplify=normal test-convergence=false top-down=true}, cse, triton-to-linalg{compile-on-910-95=false enable-nd2nz-on-vector=false enable-select-analysis=true global-kernel=false named-ops=true}, cse)",
      disable_threading: true,
      verify_each: true
    }
  }
#-}
