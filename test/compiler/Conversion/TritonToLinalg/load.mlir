// RUN: piton-opt %s --triton-to-linalg --canonicalize --cse --split-input-file | FileCheck %s
//
// Loads: unmasked, `other` scalar and tensor, broadcast dimensions, residual masks, scalars,
// bools, volatile.

// CHECK-LABEL: @tile
// CHECK:   %[[V:.*]] = memref.reinterpret_cast %{{.*}} to offset: [8], sizes: [4, 16], strides: [%{{.*}}, 1] : memref<?xf32> to memref<4x16xf32, strided<[?, 1], offset: 8>>
// CHECK:   %[[B:.*]] = memref.alloc() : memref<4x16xf32>
// CHECK-NEXT: memref.copy %[[V]], %[[B]] {volatile} :
// CHECK-NEXT: bufferization.to_tensor %[[B]] restrict writable
tt.func public @tile(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %ld: i32) {
  %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %c = tt.make_range {end = 24 : i32, start = 8 : i32} : tensor<16xi32>
  %re = tt.expand_dims %r {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %lds = tt.splat %ld : i32 -> tensor<4x1xi32>
  %ro = arith.muli %re, %lds : tensor<4x1xi32>
  %rb = tt.broadcast %ro : tensor<4x1xi32> -> tensor<4x16xi32>
  %cb = tt.broadcast %ce : tensor<1x16xi32> -> tensor<4x16xi32>
  %o = arith.addi %rb, %cb : tensor<4x16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<4x16x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %o : tensor<4x16x!tt.ptr<f32>>, tensor<4x16xi32>
  %v = tt.load %xp {isVolatile = true} : tensor<4x16x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<4x16x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %o : tensor<4x16x!tt.ptr<f32>>, tensor<4x16xi32>
  tt.store %yp, %v : tensor<4x16x!tt.ptr<f32>>
  tt.return
}

// -----

// CHECK-LABEL: @others
// CHECK-SAME:    %{{[a-z0-9]+}}: memref<?xi8>, %{{[a-z0-9]+}}: memref<?xi8>, %[[X:[a-z0-9]+]]: memref<?xf32>
tt.func public @others(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %ns = tt.splat %n : i32 -> tensor<32xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<32xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  // A scalar seen through a cast: the value of `n` fills.
  // CHECK:   %[[N:.*]] = arith.sitofp %{{.*}} : i32 to f32
  // CHECK:   scf.if
  // CHECK-NEXT: linalg.fill ins(%[[N]] : f32)
  // CHECK-NEXT: } {hivm.unlikely_condition}
  // CHECK:   %[[A:.*]] = bufferization.to_tensor
  %nf = arith.sitofp %ns : tensor<32xi32> to tensor<32xf32>
  %a = tt.load %xp, %m, %nf : tensor<32x!tt.ptr<f32>>
  // A tensor goes into the buffer first.
  // CHECK:   scf.if
  // CHECK-NEXT: bufferization.materialize_in_destination %[[A]] in writable
  // CHECK-NEXT: } {hivm.unlikely_condition}
  %b = tt.load %xp, %m, %a : tensor<32x!tt.ptr<f32>>
  %s = arith.addf %a, %b : tensor<32xf32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %i : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  tt.store %yp, %s : tensor<32x!tt.ptr<f32>>
  // An upper bound that is a constant: the fill needs no guard.
  // CHECK:   memref.alloc
  // CHECK-NEXT: linalg.fill
  // CHECK-NEXT: memref.subview %{{.*}}[0] [7] [1]
  %c7 = arith.constant dense<7> : tensor<32xi32>
  %m7 = arith.cmpi slt, %i, %c7 : tensor<32xi32>
  %d = tt.load %xp, %m7 : tensor<32x!tt.ptr<f32>>
  tt.store %yp, %d : tensor<32x!tt.ptr<f32>>
  tt.return
}

// -----

// A row under 8 x 16 lanes is read once; the mask of the repeated dimension selects.
// CHECK-LABEL: @broadcast
// CHECK:   memref.alloc() : memref<16xf32>
// CHECK:   %[[SOME:.*]] = arith.cmpi sgt, %{{.*}}, %c0
// CHECK:   %[[EXT:.*]] = arith.select %[[SOME]], %c16, %c0 : index
// CHECK:   memref.subview %{{.*}}[0] [%[[EXT]]] [1]
// CHECK:   %[[T:.*]] = bufferization.to_tensor %{{.*}} : memref<16xf32> to tensor<16xf32>
// CHECK:   %[[W:.*]] = linalg.broadcast ins(%[[T]] : tensor<16xf32>) outs(%{{.*}}) dimensions = [0]
// CHECK:   arith.select %{{.*}}, %[[W]], %{{.*}} : tensor<8x16xi1>, tensor<8x16xf32>
tt.func public @broadcast(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %c = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %re = tt.expand_dims %r {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %ns = tt.splat %n : i32 -> tensor<8x1xi32>
  %m1 = arith.cmpi slt, %re, %ns : tensor<8x1xi32>
  %m = tt.broadcast %m1 : tensor<8x1xi1> -> tensor<8x16xi1>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1x16x!tt.ptr<f32>>
  %xp1 = tt.addptr %xs, %ce : tensor<1x16x!tt.ptr<f32>>, tensor<1x16xi32>
  %xp = tt.broadcast %xp1 : tensor<1x16x!tt.ptr<f32>> -> tensor<8x16x!tt.ptr<f32>>
  %v = tt.load %xp, %m : tensor<8x16x!tt.ptr<f32>>
  %w = arith.constant dense<16> : tensor<8x1xi32>
  %ro = arith.muli %re, %w : tensor<8x1xi32>
  %rb = tt.broadcast %ro : tensor<8x1xi32> -> tensor<8x16xi32>
  %cb = tt.broadcast %ce : tensor<1x16xi32> -> tensor<8x16xi32>
  %o = arith.addi %rb, %cb : tensor<8x16xi32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %o : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
  tt.store %yp, %v : tensor<8x16x!tt.ptr<f32>>
  tt.return
}

// -----

// Scalars: a masked load reads only where the mask holds, a volatile one says so. Bools are
// bytes in memory.
// CHECK-LABEL: @scalars
// CHECK:   %[[V:.*]] = scf.if %{{.*}} -> (f32) {
// CHECK:     %[[L:.*]] = memref.load %{{.*}}[%c0] {volatile} : memref<1xf32, strided<[1]>>
// CHECK-NEXT: annotation.mark %[[L]] {volatile} : f32
// CHECK:     scf.yield %[[L]]
// CHECK:   } else {
// CHECK:     scf.yield %cst
// CHECK:   }
// CHECK:   %[[B:.*]] = memref.load %{{.*}} : memref<1xi8, strided<[1]>>
// CHECK:   %[[C:.*]] = arith.cmpi ne, %[[B]], %c0_i8 : i8
// CHECK:   scf.if %[[C]] {
tt.func public @scalars(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %b: !tt.ptr<i1>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1.0 : f32
  %m = arith.cmpi sgt, %n, %c0 : i32
  %v = tt.load %x, %m, %one {isVolatile = true} : !tt.ptr<f32>
  %p = tt.load %b : !tt.ptr<i1>
  tt.store %y, %v, %p : !tt.ptr<f32>
  tt.return
}

// -----

// Column-major memory: the dimension of stride 1 goes last for the copy, the tile is turned
// over afterwards, and stored the same way.
// CHECK-LABEL: @columns
// CHECK:   %[[S:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [16, 4], strides: [%{{.*}}, 1]
// CHECK:   %[[B:.*]] = memref.alloc() : memref<16x4xf32>
// CHECK:   memref.copy %[[S]], %[[B]]
// CHECK:   %[[T:.*]] = bufferization.to_tensor %[[B]]
// CHECK:   %[[V:.*]] = linalg.transpose ins(%[[T]] : tensor<16x4xf32>) outs(%{{.*}} : tensor<4x16xf32>) permutation = [1, 0]
// CHECK:   %[[E:.*]] = math.exp %[[V]] : tensor<4x16xf32>
// CHECK:   %[[U:.*]] = linalg.transpose ins(%[[E]] : tensor<4x16xf32>) outs(%{{.*}} : tensor<16x4xf32>) permutation = [1, 0]
// CHECK:   bufferization.materialize_in_destination %[[U]] in writable
tt.func public @columns(%x: !tt.ptr<f32>, %ld: i32) {
  %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %c = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %re = tt.expand_dims %r {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %lds = tt.splat %ld : i32 -> tensor<1x16xi32>
  %co = arith.muli %ce, %lds : tensor<1x16xi32>
  %rb = tt.broadcast %re : tensor<4x1xi32> -> tensor<4x16xi32>
  %cb = tt.broadcast %co : tensor<1x16xi32> -> tensor<4x16xi32>
  %o = arith.addi %rb, %cb : tensor<4x16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<4x16x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %o : tensor<4x16x!tt.ptr<f32>>, tensor<4x16xi32>
  %v = tt.load %xp : tensor<4x16x!tt.ptr<f32>>
  %e = math.exp %v : tensor<4x16xf32>
  tt.store %xp, %e : tensor<4x16x!tt.ptr<f32>>
  tt.return
}

// -----

// A loop that waits for a value does nothing else, and must stay.
// CHECK-LABEL: @polled
// CHECK:   scf.while
// CHECK:     %[[L:.*]] = memref.load %{{.*}}[%c0] {volatile}
// CHECK-NEXT: annotation.mark %[[L]] {volatile} : i32
// CHECK:     scf.condition
// CHECK:   materialize_in_destination
tt.func public @polled(%p: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  scf.while : () -> () {
    %v = tt.load %p {isVolatile = true} : !tt.ptr<i32>
    %c = arith.cmpi eq, %v, %c0 : i32
    scf.condition(%c)
  } do {
    scf.yield
  }
  tt.store %out, %c0 : !tt.ptr<i32>
  tt.return
}

// -----

// A loop without effects goes as a whole, with the pointers in it.
// CHECK-LABEL: @dead
// CHECK-NOT: scf
// CHECK:   return
tt.func public @dead(%p: !tt.ptr<i32>, %q: !tt.ptr<!tt.ptr<f32>>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %c1 step %c1 : i32 {
    %r = tt.load %q : !tt.ptr<!tt.ptr<f32>>
    %s = tt.addptr %r, %i : !tt.ptr<f32>, i32
    %x = tt.load %s : !tt.ptr<f32>
    scf.while : () -> () {
      %at = tt.addptr %p, %i : !tt.ptr<i32>, i32
      %v = tt.load %at : !tt.ptr<i32>
      %c = arith.cmpi eq, %v, %c0 : i32
      scf.condition(%c)
    } do {
      scf.yield
    }
  }
  tt.return
}
