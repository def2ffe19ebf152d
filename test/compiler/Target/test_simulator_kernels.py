# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ruff: noqa: E501 (lines of IR)
"""Whole kernels through the simulator back end: masks, overlap, loops, helpers, waiting."""

import numpy as np
import pytest
from handover import Kernel, run

RNG = np.random.default_rng(11)


def masked_kernel(k, body, block=256, element="f32", pad="0.0"):
    """Loads x[pid*block:], masked by n, applies `body`, stores to y under the same mask."""
    k.emit(f"%block = arith.constant {block} : i32")
    k.emit(f"%full = arith.constant {block} : index")
    k.emit("%c0 = arith.constant 0 : index")
    k.emit(f"%pad = arith.constant {pad} : {element}")
    k.emit("%o = arith.muli %px, %block : i32")
    k.emit("%off = arith.index_cast %o : i32 to index")
    k.emit("%left = arith.subi %n, %o : i32")
    k.emit("%leftx = arith.index_cast %left : i32 to index")
    k.emit("%len0 = arith.minsi %leftx, %full : index")
    k.emit("%len = arith.maxsi %len0, %c0 : index")
    k.emit("%short = arith.cmpi slt, %len, %full : index")
    strided = f"memref<{block}x{element}, strided<[1], offset: ?>>"
    part = f"memref<?x{element}, strided<[1], offset: ?>>"
    k.emit(
        f"%in = memref.reinterpret_cast %x to offset: [%off], sizes: [{block}], strides: [1] : "
        f"memref<?x{element}> to {strided}"
    )
    k.emit(f"%a = memref.alloc() : memref<{block}x{element}>")
    k.emit("scf.if %short {")
    k.emit(f"linalg.fill ins(%pad : {element}) outs(%a : memref<{block}x{element}>)")
    k.emit("} {hivm.unlikely_condition}")
    k.emit(f"%s = memref.subview %in[0] [%len] [1] : {strided} to {part}")
    k.emit(
        f"%t = memref.subview %a[0] [%len] [1] : memref<{block}x{element}> to memref<?x{element}, strided<[1]>>"
    )
    k.emit(f"memref.copy %s, %t : {part} to memref<?x{element}, strided<[1]>>")
    k.emit(
        f"%v = bufferization.to_tensor %a restrict writable : memref<{block}x{element}> to tensor<{block}x{element}>"
    )
    r = body("%v", f"tensor<{block}x{element}>")
    k.emit(
        f"%out = memref.reinterpret_cast %y to offset: [%off], sizes: [{block}], strides: [1] : "
        f"memref<?x{element}> to {strided}"
    )
    k.emit(
        f"%rs = tensor.extract_slice {r}[0] [%len] [1] : tensor<{block}x{element}> to tensor<?x{element}>"
    )
    k.emit(f"%ds = memref.subview %out[0] [%len] [1] : {strided} to {part}")
    k.emit(
        f"bufferization.materialize_in_destination %rs in writable %ds : (tensor<?x{element}>, {part}) -> ()"
    )


@pytest.mark.parametrize("n", [0, 1, 31, 32, 255, 256, 257, 1000])
@pytest.mark.parametrize("element,dtype", [("f32", "float32"), ("i8", "int8"), ("i64", "int64")])
def test_masked_map(n, element, dtype, tmp_path):
    """Nothing outside of the mask is written; every length of the last block."""
    k = Kernel([("x", "*" + element), ("y", "*" + element), ("n", "i32")])
    add = "addf" if element[0] == "f" else "addi"
    pad = "0.0" if element[0] == "f" else "0"
    masked_kernel(k, lambda v, t: k.value(f"arith.{add} {v}, {v} : {t}"), element=element, pad=pad)
    x = RNG.integers(-9, 9, 1024).astype(dtype)
    y = np.full(1024, 77, dtype)
    run(k.text(), [x, y, ("i32", n)], grid=(4, 1, 1), folder=tmp_path)
    np.testing.assert_array_equal(y[:n], 2 * x[:n])
    np.testing.assert_array_equal(y[n:], 77)


@pytest.mark.parametrize("shift", [0, 1, 7, 32, 300])
def test_store_overlaps_load(shift, tmp_path):
    """One block that stores at an offset from where it loads: as if all was loaded first."""
    n = 200
    k = Kernel([("x", "*f32"), ("d", "i32")])
    k.emit("%dx = arith.index_cast %d : i32 to index")
    v = k.load("x", (n,), "f32")
    r = k.value(f"arith.addf {v}, {v} : tensor<{n}xf32>")
    layout = f"memref<{n}xf32, strided<[1], offset: ?>>"
    k.emit(
        f"%out = memref.reinterpret_cast %x to offset: [%dx], sizes: [{n}], strides: [1] : "
        f"memref<?xf32> to {layout}"
    )
    k.emit(
        f"bufferization.materialize_in_destination {r} in writable %out : (tensor<{n}xf32>, {layout}) -> ()"
    )
    x = RNG.standard_normal(600).astype(np.float32)
    want = x.copy()
    want[shift : shift + n] = 2 * x[:n]
    run(k.text(), [x, ("i32", shift)], folder=tmp_path)
    np.testing.assert_array_equal(x, want)


@pytest.mark.parametrize("n", [1, 100, 256])
def test_masked_softmax(n, tmp_path):
    """Padding of -inf takes part in the row maximum and gives zero weights."""
    k = Kernel([("x", "*f32"), ("y", "*f32"), ("n", "i32")])

    def body(v, t):
        k.emit("%ninf = arith.constant 0xFF800000 : f32")
        k.emit("%zero = arith.constant 0.0 : f32")
        k.emit("%e0 = tensor.empty() : tensor<f32>")
        k.emit(f"%e = tensor.empty() : {t}")

        def reduce(value, init, op):
            i = k.value(f"linalg.fill ins({init} : f32) outs(%e0 : tensor<f32>) -> tensor<f32>")
            r = k.value(
                f"linalg.reduce ins({value} : {t}) outs({i} : tensor<f32>) dimensions = [0] "
                f"(%p: f32, %q: f32) {{ %u = arith.{op} %p, %q : f32 linalg.yield %u : f32 }}"
            )
            scalar = k.value(f"tensor.extract {r}[] : tensor<f32>")
            return k.value(f"linalg.fill ins({scalar} : f32) outs(%e : {t}) -> {t}")

        m = reduce(v, "%ninf", "maxnumf")
        p = k.value(f"math.exp {k.value(f'arith.subf {v}, {m} : {t}')} : {t}")
        return k.value(f"arith.divf {p}, {reduce(p, '%zero', 'addf')} : {t}")

    masked_kernel(k, body, pad="0xFF800000")
    x = RNG.standard_normal(256).astype(np.float32)
    y = np.zeros(256, np.float32)
    run(k.text(), [x, y, ("i32", n)], folder=tmp_path)
    e = np.exp(x[:n] - x[:n].max())
    np.testing.assert_allclose(y[:n], e / e.sum(), rtol=2e-6)
    assert not y[n:].any()


@pytest.mark.parametrize("rows,columns", [(8, 64), (5, 33), (0, 64), (3, 0)])
def test_masked_tile(rows, columns, tmp_path):
    """A two-dimensional box, rows with a stride of their own."""
    k = Kernel([("x", "*f32"), ("y", "*f32"), ("r", "i32"), ("c", "i32")])
    k.emit("%rx = arith.index_cast %r : i32 to index")
    k.emit("%cx = arith.index_cast %c : i32 to index")
    k.emit("%one = arith.constant 1.0 : f32")
    view = "memref<8x64xf32, strided<[100, 1]>>"
    part = "memref<?x?xf32, strided<[100, 1]>>"
    local = "memref<?x?xf32, strided<[64, 1]>>"
    for name, arg in (("in", "x"), ("out", "y")):
        k.emit(
            f"%{name} = memref.reinterpret_cast %{arg} to offset: [0], sizes: [8, 64], strides: [100, 1] : memref<?xf32> to {view}"
        )
    k.emit("%a = memref.alloc() : memref<8x64xf32>")
    k.emit("linalg.fill ins(%one : f32) outs(%a : memref<8x64xf32>)")
    k.emit(f"%s = memref.subview %in[0, 0] [%rx, %cx] [1, 1] : {view} to {part}")
    k.emit(f"%t = memref.subview %a[0, 0] [%rx, %cx] [1, 1] : memref<8x64xf32> to {local}")
    k.emit(f"memref.copy %s, %t : {part} to {local}")
    k.emit(
        "%v = bufferization.to_tensor %a restrict writable : memref<8x64xf32> to tensor<8x64xf32>"
    )
    w = k.value("arith.mulf %v, %v : tensor<8x64xf32>")
    k.emit(
        f"bufferization.materialize_in_destination {w} in writable %out : (tensor<8x64xf32>, {view}) -> ()"
    )
    x = RNG.standard_normal((8, 100)).astype(np.float32)
    y = np.full((8, 100), 9, np.float32)
    run(k.text(), [x, y, ("i32", rows), ("i32", columns)], folder=tmp_path)
    tile = np.ones((8, 64), np.float32)
    tile[:rows, :columns] = x[:rows, :columns]
    np.testing.assert_array_equal(y[:, :64], tile * tile)
    np.testing.assert_array_equal(y[:, 64:], 9)


def test_loop_carried_tensors_trade_places(tmp_path):
    """Fibonacci on tensors: (a, b) -> (b, a + b), an odd and an even number of times."""
    k = Kernel([("x", "*i32"), ("y", "*i32"), ("n", "i32")])
    a, b = k.load("x", (40,), "i32"), k.load("y", (40,), "i32")
    k.emit("%nx = arith.index_cast %n : i32 to index")
    k.emit("%c0 = arith.constant 0 : index")
    k.emit("%c1 = arith.constant 1 : index")
    k.emit(
        f"%r:2 = scf.for %i = %c0 to %nx step %c1 iter_args(%a = {a}, %b = {b}) -> (tensor<40xi32>, tensor<40xi32>) {{"
    )
    k.emit("%s = arith.addi %a, %b : tensor<40xi32>")
    k.emit("scf.yield %b, %s : tensor<40xi32>, tensor<40xi32>")
    k.emit("}")
    k.store("%r#0", "x", (40,), "i32")
    k.store("%r#1", "y", (40,), "i32")
    for n in (0, 1, 6, 7):
        x, y = RNG.integers(0, 9, (2, 40)).astype(np.int32)
        p, q = x.copy(), y.copy()
        for _ in range(n):
            p, q = q, p + q
        run(k.text(), [x, y, ("i32", n)], folder=tmp_path)
        np.testing.assert_array_equal(x, p)
        np.testing.assert_array_equal(y, q)


def test_while_with_tensor_condition(tmp_path):
    """Doubles until the first element passes the limit; the body also uses another tensor."""
    k = Kernel([("x", "*f32"), ("y", "*f32"), ("limit", "f32")])
    a = k.load("x", (48,), "f32")
    k.emit("%c0 = arith.constant 0 : index")
    k.emit(
        f"%r:2 = scf.while (%t = {a}, %u = {a}) : (tensor<48xf32>, tensor<48xf32>) -> (tensor<48xf32>, tensor<48xf32>) {{"
    )
    k.emit("%v = tensor.extract %t[%c0] : tensor<48xf32>")
    k.emit("%more = arith.cmpf olt, %v, %limit : f32")
    k.emit("%w = arith.addf %t, %u : tensor<48xf32>")
    k.emit("scf.condition(%more) %w, %t : tensor<48xf32>, tensor<48xf32>")
    k.emit("} do {")
    k.emit("^bb0(%p: tensor<48xf32>, %q: tensor<48xf32>):")
    k.emit("scf.yield %p, %q : tensor<48xf32>, tensor<48xf32>")
    k.emit("}")
    k.store("%r#0", "y", (48,), "f32")
    x = np.abs(RNG.standard_normal(48)).astype(np.float32) + np.float32(0.5)
    y = np.zeros(48, np.float32)
    run(k.text(), [x, y, ("f32", 100)], folder=tmp_path)
    t, u = x, x
    while True:
        more, w = t[0] < 100, t + u
        if not more:
            break
        t, u = w, t
    np.testing.assert_array_equal(y, w)


def test_branches_yield_tensors(tmp_path):
    k = Kernel([("x", "*f32"), ("y", "*f32"), ("n", "i32")])
    a = k.load("x", (64,), "f32")
    k.emit("%zero = arith.constant 0 : i32")
    k.emit("%c = arith.cmpi sgt, %n, %zero : i32")
    k.emit("%r = scf.if %c -> tensor<64xf32> {")
    k.emit(f"%d = arith.addf {a}, {a} : tensor<64xf32>")
    k.emit("scf.yield %d : tensor<64xf32>")
    k.emit("} else {")
    k.emit(f"scf.yield {a} : tensor<64xf32>")
    k.emit("}")
    k.store(k.value(f"arith.mulf %r, {a} : tensor<64xf32>"), "y", (64,), "f32")
    x, y = RNG.standard_normal((2, 64)).astype(np.float32)
    for n, factor in ((1, 2), (0, 1)):
        run(k.text(), [x, y, ("i32", n)], folder=tmp_path)
        np.testing.assert_array_equal(y, x * np.float32(factor) * x)


@pytest.mark.parametrize("kind,axis,reverse", [("cumsum", 0, 0), ("cumsum", 1, 1), ("cumprod", 1, 0),
                                               ("cummax", 0, 1), ("cummin", 1, 0)])  # fmt: skip
def test_scans(kind, axis, reverse, tmp_path):
    k = Kernel(
        [("x", "*f32"), ("y", "*f32")],
        f"  func.func private @triton_{kind}(tensor<6x40xf32>, i32, i1) -> tensor<6x40xf32>",
    )
    a = k.load("x", (6, 40), "f32")
    k.emit(f"%axis = arith.constant {axis} : i32")
    k.emit(f"%rev = arith.constant {'true' if reverse else 'false'}")
    r = k.value(
        f"func.call @triton_{kind}({a}, %axis, %rev) : (tensor<6x40xf32>, i32, i1) -> tensor<6x40xf32>"
    )
    k.store(r, "y", (6, 40), "f32")
    x = (1 + RNG.standard_normal((6, 40)) * 0.1).astype(np.float32)
    y = np.zeros_like(x)
    run(k.text(), [x, y], folder=tmp_path)
    f = {"cumsum": np.cumsum, "cumprod": np.cumprod, "cummax": np.maximum.accumulate,
         "cummin": np.minimum.accumulate}[kind]  # fmt: skip
    want = np.flip(f(np.flip(x, axis), axis=axis), axis) if reverse else f(x, axis=axis)
    np.testing.assert_allclose(y, want, rtol=1e-5)


@pytest.mark.parametrize("axis", [0, 1])
def test_gather_flip_sort(axis, tmp_path):
    shape = "tensor<6x16xf32>"
    k = Kernel(
        [("x", "*f32"), ("i", "*i32"), ("g", "*f32"), ("f", "*f32"), ("s", "*f32")],
        f"  func.func private @triton_gather({shape}, tensor<6x16xi32>, i32) -> {shape}\n"
        f"  func.func private @triton_flip({shape}, i64) -> {shape}\n"
        f"  func.func private @triton_sort({shape}, i64, i1) -> {shape}",
    )
    a, i = k.load("x", (6, 16), "f32"), k.load("i", (6, 16), "i32")
    k.emit(f"%axis = arith.constant {axis} : i32")
    k.emit(f"%dim = arith.constant {axis} : i64")
    k.emit("%down = arith.constant true")
    g = k.value(
        f"func.call @triton_gather({a}, {i}, %axis) : ({shape}, tensor<6x16xi32>, i32) -> {shape}"
    )
    f = k.value(f"func.call @triton_flip({a}, %dim) : ({shape}, i64) -> {shape}")
    s = k.value(f"func.call @triton_sort({a}, %dim, %down) : ({shape}, i64, i1) -> {shape}")
    for value, name in ((g, "g"), (f, "f"), (s, "s")):
        k.store(value, name, (6, 16), "f32")
    x = RNG.standard_normal((6, 16)).astype(np.float32)
    index = RNG.integers(0, x.shape[axis], (6, 16)).astype(np.int32)
    out = [np.zeros_like(x) for _ in range(3)]
    run(k.text(), [x, index, *out], folder=tmp_path)
    np.testing.assert_array_equal(out[0], np.take_along_axis(x, index.astype(np.int64), axis))
    np.testing.assert_array_equal(out[1], np.flip(x, axis))
    np.testing.assert_array_equal(out[2], -np.sort(-x, axis))


@pytest.mark.parametrize("axis", [0, 1])
def test_argmax(axis, tmp_path):
    """A reduction with two results and several ops in its body."""
    n = 24 if axis == 0 else 16
    k = Kernel([("x", "*f32"), ("v", "*f32"), ("i", "*i32")])
    a = k.load("x", (16, 24), "f32")
    dim = "d0" if axis == 0 else "d1"
    e = k.value("tensor.empty() : tensor<16x24xi32>")
    ix = k.value(
        f"linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = "
        f'["parallel", "parallel"]}} outs({e} : tensor<16x24xi32>) {{ ^bb0(%o: i32): '
        f"%n = linalg.index {dim[1]} : index %m = arith.index_cast %n : index to i32 "
        "linalg.yield %m : i32 } -> tensor<16x24xi32>"
    )
    k.emit("%ninf = arith.constant 0xFF800000 : f32")
    k.emit("%none = arith.constant -1 : i32")
    ev, ei = (
        k.value(f"tensor.empty() : tensor<{n}xf32>"),
        k.value(f"tensor.empty() : tensor<{n}xi32>"),
    )
    vi = k.value(f"linalg.fill ins(%ninf : f32) outs({ev} : tensor<{n}xf32>) -> tensor<{n}xf32>")
    ii = k.value(f"linalg.fill ins(%none : i32) outs({ei} : tensor<{n}xi32>) -> tensor<{n}xi32>")
    k.emit(
        f"%r:2 = linalg.reduce ins({a}, {ix} : tensor<16x24xf32>, tensor<16x24xi32>) outs({vi}, {ii} : "
        f"tensor<{n}xf32>, tensor<{n}xi32>) dimensions = [{axis}] (%p: f32, %pi: i32, %q: f32, %qi: i32) {{ "
        "%g = arith.cmpf ogt, %p, %q : f32 %s = arith.select %g, %p, %q : f32 "
        "%t = arith.select %g, %pi, %qi : i32 linalg.yield %s, %t : f32, i32 }"
    )
    k.store("%r#0", "v", (n,), "f32")
    k.store("%r#1", "i", (n,), "i32")
    x = RNG.standard_normal((16, 24)).astype(np.float32)
    v, i = np.zeros(n, np.float32), np.zeros(n, np.int32)
    run(k.text(), [x, v, i], folder=tmp_path)
    np.testing.assert_array_equal(v, x.max(axis))
    np.testing.assert_array_equal(i, x.argmax(axis))


@pytest.mark.parametrize("m,n,kk", [(64, 64, 64), (50, 70, 100)])
def test_matmul_loop(m, n, kk, tmp_path):
    """K in steps of 32 with a masked last one; the accumulator stays in place."""
    k = Kernel([("a", "*f32"), ("b", "*f32"), ("c", "*f32"), ("K", "i32"), ("N", "i32")])
    k.emit("%k = arith.index_cast %K : i32 to index\n    %n = arith.index_cast %N : i32 to index")
    k.emit("%c0 = arith.constant 0 : index\n    %c32 = arith.constant 32 : index")
    k.emit("%zero = arith.constant 0.0 : f32")
    t = f"tensor<{m}x{n}xf32>"
    e = k.value(f"tensor.empty() : {t}")
    init = k.value(f"linalg.fill ins(%zero : f32) outs({e} : {t}) -> {t}")
    k.emit(f"%acc = scf.for %i = %c0 to %k step %c32 iter_args(%in = {init}) -> ({t}) {{")
    k.emit("%left = arith.subi %k, %i : index\n    %len = arith.minsi %left, %c32 : index")
    k.emit("%short = arith.cmpi slt, %len, %c32 : index\n    %bo = arith.muli %i, %n : index")
    for name, arg, offset, shape, stride, box in (
        ("a", "a", "%i", (m, 32), "%k", f"{m}, %len"),
        ("b", "b", "%bo", (32, n), "%n", f"%len, {n}"),
    ):
        dims = "x".join(map(str, shape))
        view = f"memref<{dims}xf32, strided<[?, 1], offset: ?>>"
        part = "x".join("?" if "%" in d else d.strip() for d in box.split(","))
        k.emit(
            f"%{name}_c = memref.reinterpret_cast %{arg} to offset: [{offset}], sizes: {list(shape)}, strides: [{stride}, 1] : memref<?xf32> to {view}"
        )
        k.emit(f"%{name}_b = memref.alloc() : memref<{dims}xf32>")
        k.emit(
            f"scf.if %short {{ linalg.fill ins(%zero : f32) outs(%{name}_b : memref<{dims}xf32>) }}"
        )
        k.emit(
            f"%{name}_s = memref.subview %{name}_c[0, 0] [{box}] [1, 1] : {view} to memref<{part}xf32, strided<[?, 1], offset: ?>>"
        )
        k.emit(
            f"%{name}_t = memref.subview %{name}_b[0, 0] [{box}] [1, 1] : memref<{dims}xf32> to memref<{part}xf32, strided<[{shape[1]}, 1]>>"
        )
        k.emit(
            f"memref.copy %{name}_s, %{name}_t : memref<{part}xf32, strided<[?, 1], offset: ?>> to memref<{part}xf32, strided<[{shape[1]}, 1]>>"
        )
        k.emit(
            f"%{name}_v = bufferization.to_tensor %{name}_b restrict writable : memref<{dims}xf32> to tensor<{dims}xf32>"
        )
    k.emit(
        f"%d = linalg.matmul ins(%a_v, %b_v : tensor<{m}x32xf32>, tensor<32x{n}xf32>) outs(%in : {t}) -> {t}"
    )
    k.emit(f"scf.yield %d : {t}\n    }}")
    k.store("%acc", "c", (m, n), "f32")
    a, b = RNG.standard_normal((m, kk)), RNG.standard_normal((kk, n))
    a, b, c = a.astype(np.float32), b.astype(np.float32), np.zeros((m, n), np.float32)
    run(k.text(), [a, b, c, ("i32", kk), ("i32", n)], folder=tmp_path)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)


def test_spin_lock(tmp_path):
    """64 blocks take a lock by compare-and-swap and update two words under it."""
    m = "affine_map<(d0) -> (d0)>"
    one = "memref<1xi32, strided<[1]>>"
    k = Kernel([("lockword", "*i32"), ("data", "*i32")])
    k.emit("%c0 = arith.constant 0 : index\n    %c1 = arith.constant 1 : index")
    k.emit("%zero = arith.constant 0 : i32\n    %unit = arith.constant 1 : i32")
    for name, value in (("free", "%zero"), ("taken", "%unit"), ("old", "%unit")):
        k.emit(
            f"%{name} = memref.alloc() : memref<1xi32>\n    memref.store {value}, %{name}[%c0] : memref<1xi32>"
        )
    k.emit(
        f"%w = memref.reinterpret_cast %lockword to offset: [0], sizes: [1], strides: [1] : memref<?xi32> to {one}"
    )
    k.emit("scf.while : () -> () {")
    k.emit(
        f'linalg.generic {{indexing_maps = [{", ".join([m] * 5)}], iterator_types = ["parallel"]}} '
        f"ins(%w, %free, %taken : {one}, memref<1xi32>, memref<1xi32>) outs(%w, %old : {one}, memref<1xi32>) "
        'attrs = {GenericAtomicRMW = "cas", MemSemantic = "acq_rel", MemSyncScope = "gpu"} { '
        "^bb0(%p: i32, %q: i32, %s: i32, %t: i32, %u: i32): linalg.yield %s, %p : i32, i32 }"
    )
    k.emit("%v = memref.load %old[%c0] : memref<1xi32>\n    %busy = arith.cmpi ne, %v, %zero : i32")
    k.emit("scf.condition(%busy)\n    } do {\n    scf.yield\n    }")
    k.emit("%x = memref.load %data[%c0] : memref<?xi32>\n    %x1 = arith.addi %x, %unit : i32")
    k.emit("memref.store %x1, %data[%c0] : memref<?xi32>")
    k.emit("%y = memref.load %data[%c1] : memref<?xi32>\n    %y1 = arith.addi %y, %px : i32")
    k.emit("memref.store %y1, %data[%c1] : memref<?xi32>")
    k.emit(
        f'linalg.generic {{indexing_maps = [{", ".join([m] * 3)}], iterator_types = ["parallel"]}} '
        f"ins(%w, %free : {one}, memref<1xi32>) outs(%w : {one}) "
        'attrs = {GenericAtomicRMW = "exch", MemSemantic = "release", MemSyncScope = "gpu"} { '
        "^bb0(%p: i32, %q: i32, %s: i32): linalg.yield %q : i32 }"
    )
    lock, data = np.zeros(1, np.int32), np.zeros(2, np.int32)
    run(k.text(), [lock, data], grid=(64, 1, 1), folder=tmp_path)
    assert lock[0] == 0 and list(data) == [64, 64 * 63 // 2]


def test_print_and_assert(tmp_path):
    k = Kernel(
        [("x", "*i32"), ("n", "i32")],
        '  func.func private @triton_print(tensor<4xi32>, i32) attributes {hex = false, prefix = " x: ", '
        "is_signed = array<i32: 1, 1>}\n"
        '  func.func private @triton_assert(tensor<4xi1>) attributes {msg = "x must be small"}',
    )
    a = k.load("x", (4,), "i32")
    k.emit(f"func.call @triton_print({a}, %n) : (tensor<4xi32>, i32) -> ()")
    e = k.value("tensor.empty() : tensor<4xi32>")
    limit = k.value(f"linalg.fill ins(%n : i32) outs({e} : tensor<4xi32>) -> tensor<4xi32>")
    c = k.value(f"arith.cmpi slt, {a}, {limit} : tensor<4xi32>")
    k.emit(f"func.call @triton_assert({c}) : (tensor<4xi1>) -> ()")
    x = np.array([3, -1, 4, 1], np.int32)
    result = run(k.text(), [x, ("i32", 9)], folder=tmp_path)
    assert " x: " in result.stdout and "-1" in result.stdout and "9" in result.stdout
    result = run(k.text(), [x, ("i32", 4)], folder=tmp_path, check=False)
    assert result.returncode and "x must be small" in result.stderr


def test_errors_name_the_op(tmp_path):
    k = Kernel([("x", "*f32")], "  func.func private @unknown(f32) -> f32")
    k.emit("%f = arith.constant 1.0 : f32")
    k.emit("%g = func.call @unknown(%f) : (f32) -> f32")
    result = run(k.text(), [np.zeros(4, np.float32)], folder=tmp_path, check=False)
    assert result.returncode == 1
    assert "calls 'unknown', which the device library does not have" in result.stderr


def test_program_ids_and_grid(tmp_path):
    k = Kernel([("y", "*i32")])
    k.emit("%a = arith.muli %px, %npy : i32\n    %b = arith.addi %a, %py : i32")
    k.emit("%c = arith.muli %b, %npz : i32\n    %d = arith.addi %c, %pz : i32")
    k.emit("%i = arith.index_cast %d : i32 to index\n    %s = arith.addi %d, %npx : i32")
    k.emit("memref.store %s, %y[%i] : memref<?xi32>")
    y = np.zeros(24, np.int32)
    run(k.text(), [y], grid=(2, 3, 4), folder=tmp_path)
    np.testing.assert_array_equal(y, np.arange(24) + 2)
