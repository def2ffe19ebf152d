// RUN: piton-opt %s -triton-to-annotation | FileCheck %s

// CHECK-LABEL: tt.func @hint(
// CHECK:         annotation.mark %{{.*}} {hivm.multi_buffer = 2 : i32, mayDiscretememaccess, overflow_mode = "saturate"} : tensor<64xf32>
// CHECK-NOT:     ascend.annotation
tt.func @hint(%x: tensor<64xf32>) {
  ascend.annotation %x {hivm.multi_buffer = 2 : i32, mayDiscretememaccess, overflow_mode = "saturate"} : tensor<64xf32>
  tt.return
}
