// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What sim-prepare refuses, at the op.
// RUN: piton-opt %s --sim-prepare --split-input-file --verify-diagnostics

// expected-error@+1 {{the module holds no kernel}}
module {
}

// -----

module {
  func.func private @ping(%x: i32) {
    // expected-error@+1 {{recursive call}}
    func.call @ping(%x) : (i32) -> ()
    return
  }
  func.func @kernel(%x: i32) attributes {global_kernel = "local"} {
    func.call @ping(%x) : (i32) -> ()
    return
  }
}

// -----

module {
  func.func private @no_such_function(i32) -> i32
  func.func @kernel(%x: i32) attributes {global_kernel = "local"} {
    // expected-error@+1 {{calls 'no_such_function', which the device library does not have}}
    %r = func.call @no_such_function(%x) : (i32) -> i32
    return
  }
}

// -----

module {
  func.func @kernel(%x: memref<4xf32>, %v: memref<4xf32>) attributes {global_kernel = "local"} {
    // expected-error@+1 {{atomic kind 'xor' is not defined for 'f32'}}
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x, %v : memref<4xf32>, memref<4xf32>) outs(%x : memref<4xf32>) attrs = {GenericAtomicRMW = "xor"} {
    ^bb0(%p: f32, %q: f32, %r: f32):
      linalg.yield %q : f32
    }
    return
  }
}

// -----

module {
  func.func @first() attributes {global_kernel = "local"} {
    return
  }
  // expected-error@+1 {{second kernel in one module; the first is 'first'}}
  func.func @second() attributes {global_kernel = "local"} {
    return
  }
}
