# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kernels for the differential test: each statement is written twice, once as Triton and
once as numpy, so that a kernel and its evaluation come from one choice of operations.

A kernel works on a block of ROWS x COLS values. Its variables are int32 or float32 blocks of that
shape, or rows (one value a row); statements combine them elementwise, reduce them, scan them,
branch on a scalar argument or repeat a few of them in a loop that carries a variable.
Floats stay in a range where one rounding more or less is no question of right or wrong: values
are kept in -8..8 and results are compared with a tolerance; integers are compared exactly.
"""

import numpy as np

INT_OPS = (
    ("{a} + {b}",) * 2, ("{a} - {b}",) * 2, ("{a} * {b}",) * 2, ("{a} & {b}",) * 2,
    ("{a} | {b}",) * 2, ("{a} ^ {b}",) * 2,
    ("({a} << ({b} & 7))",) * 2, ("({a} >> ({b} & 7))",) * 2,
    ("tl.minimum({a}, {b})", "np.minimum({a}, {b})"),
    ("tl.maximum({a}, {b})", "np.maximum({a}, {b})"),
    ("tl.where({a} < {b}, {a}, {c})", "np.where({a} < {b}, {a}, {c})"),
    ("tl.where(({a} > 3) & ({b} != 1), {b}, {c})", "np.where(({a} > 3) & ({b} != 1), {b}, {c})"),
    ("{a} // (({b} & 15) + 1)", "trunc_div({a}, ({b} & 15) + 1)"),
    ("{a} % (({b} & 15) + 1)", "trunc_mod({a}, ({b} & 15) + 1)"),
    ("{a}.to(tl.int8).to(tl.int32)", "{a}.astype(np.int8).astype(np.int32)"),
    ("({a} > {b}).to(tl.int32)", "({a} > {b}).astype(np.int32)"),
    ("-{a}", "-{a}"), ("~{a}", "~{a}"),
)  # fmt: skip
FLOAT_OPS = (
    ("bound({a} + {b})",) * 2, ("bound({a} - {b})",) * 2, ("bound({a} * {b})",) * 2,
    ("bound({a} / ({b} * {b} + 1.0))",) * 2,
    ("tl.minimum({a}, {b})", "np.minimum({a}, {b})"),
    ("tl.maximum({a}, {b})", "np.maximum({a}, {b})"),
    ("tl.exp(bound({a}) * 0.25)", "np.exp(bound({a}) * f32(0.25))"),
    ("tl.sqrt(tl.abs({a}))", "np.sqrt(np.abs({a}))"),
    ("tl.log(tl.abs({a}) + 1.0)", "np.log(np.abs({a}) + f32(1))"),
    ("tl.sin({a})", "np.sin({a})"), ("tl.abs({a})", "np.abs({a})"), ("-{a}", "-{a}"),
)  # fmt: skip
REDUCTIONS = (
    ("tl.sum({a}, axis=1)", "{a}.sum(1, dtype={a}.dtype)"),
    ("tl.max({a}, axis=1)", "{a}.max(1)"),
    ("tl.min({a}, axis=1)", "{a}.min(1)"),
)
MASKS = (
    ("cols < n", "cols < n"),
    ("(cols < n) & (rows >= low)", "(cols < n) & (rows >= low)"),
    ("(cols >= low) & (cols < n) & (rows < m)", "(cols >= low) & (cols < n) & (rows < m)"),
    ("(cols % 3 != 1) & (rows < m)", "(cols % 3 != 1) & (rows < m)"),
    ("cols + rows < n", "cols + rows < n"),
    ("(rows < m) | (cols < low)", "(rows < m) | (cols < low)"),
    ("cols <= rows", "cols <= rows"),
)

HEADER = """import triton
import triton.language as tl

@triton.jit
def bound(x):
    return tl.minimum(tl.maximum(x, -8.0), 8.0)

@triton.jit
def kernel(
    i_ptr, f_ptr, iout_ptr, fout_ptr, m, n, low, steps, ROWS: tl.constexpr, COLS: tl.constexpr
):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    cols = tl.arange(0, COLS)[None, :]
    at = rows * COLS + cols
"""
REFERENCE_HEADER = '''import numpy as np
f32 = np.float32

def bound(x):
    return np.minimum(np.maximum(x, f32(-8)), f32(8))

def trunc_div(a, b):
    return (np.sign(a) * (np.abs(a.astype(np.int64)) // b)).astype(np.int32)

def trunc_mod(a, b):
    return (a - trunc_div(a, b) * b).astype(np.int32)

def kernel(program, imem, fmem, iout, fout, m, n, low, steps, ROWS, COLS):
    rows = program * ROWS + np.arange(ROWS, dtype=np.int32)[:, None]
    cols = np.arange(COLS, dtype=np.int32)[None, :]
    at = rows * COLS + cols
'''  # fmt: skip


class Maker:
    """Draws one kernel; `triton` and `numpy` hold the two texts."""

    def __init__(self, rng, statements):
        self.rng = rng
        self.triton, self.numpy = [HEADER], [REFERENCE_HEADER]
        self.count = 0
        self.ints, self.floats = [], []
        self.indent = 1
        for kind in "if":
            for _ in range(2):
                self.load(kind)
        for _ in range(statements):
            self.statement()
        for kind in "if":
            self.store(kind)
            self.store(kind)

    def choose(self, options):
        return options[int(self.rng.integers(len(options)))]

    def emit(self, left, right=None):
        pad = "    " * self.indent
        self.triton.append(pad + left + "\n")
        self.numpy.append(pad + (left if right is None else right) + "\n")

    def fresh(self, kind):
        self.count += 1
        name = f"{kind}{self.count}"
        (self.ints if kind == "i" else self.floats).append(name)
        return name

    def pool(self, kind):
        return self.ints if kind == "i" else self.floats

    def load(self, kind):
        mask = self.choose(MASKS)
        shift = int(self.rng.integers(0, 9))
        other, other_np = ("7", "7") if kind == "i" else ("0.5", "f32(0.5)")
        mem = kind + "_ptr"
        name = self.fresh(kind)
        self.emit(
            f"{name} = tl.load({mem} + at + {shift}, mask={mask[0]}, other={other})",
            f"{name} = np.where({mask[1]}, {kind}mem[at + {shift}], {other_np})",
        )

    def store(self, kind):
        mask = self.choose(MASKS)
        value = self.choose(self.pool(kind))
        self.emit(
            f"tl.store({kind}out_ptr + at, {value}, mask={mask[0]})",
            f"keep = np.broadcast_to({mask[1]}, at.shape); "
            f"{kind}out[at[keep]] = np.broadcast_to({value}, at.shape)[keep]",
        )

    def expression(self, kind):
        a, b, c = (self.choose(self.pool(kind)) for _ in range(3))
        left, right = self.choose(INT_OPS if kind == "i" else FLOAT_OPS)
        return left.format(a=a, b=b, c=c), right.format(a=a, b=b, c=c)

    def assign(self, name, pair):
        self.emit(f"{name} = {pair[0]}", f"{name} = {pair[1]}")

    def statement(self):
        kind = self.choose("iiff")
        what = self.choose(("op",) * 6 + ("load", "reduce", "scan", "loop", "if", "cast", "store"))
        if what == "op":
            pair = self.expression(kind)
            self.assign(self.fresh(kind), pair)
        elif what == "load":
            self.load(kind)
        elif what == "store":
            self.store(kind)
        elif what == "reduce":
            a = self.choose(self.pool(kind))
            left, right = self.choose(REDUCTIONS)
            left, right = left.format(a=a), right.format(a=a)
            if kind == "f":
                left, right = f"bound({left})", f"bound({right})"
            b = self.choose(self.pool(kind))
            # One value a row, spread again: the result stays a block.
            self.assign(self.fresh(kind), (f"tl.maximum({b}, ({left})[:, None])",
                                           f"np.maximum({b}, ({right})[:, None])"))  # fmt: skip
        elif what == "scan":
            a = self.choose(self.ints)
            axis = int(self.rng.integers(2))
            self.assign(self.fresh("i"), (f"tl.cumsum({a}, axis={axis})",
                                          f"{a}.cumsum({axis}, dtype=np.int32)"))  # fmt: skip
        elif what == "cast":
            if kind == "i":
                # Casts of computed floats may differ at an integer boundary: only of loaded ones.
                a = self.choose(self.floats[:2])
                pair = (f"({a} * 4.0).to(tl.int32)", f"({a} * f32(4)).astype(np.int32)")
            else:
                a = self.choose(self.ints)
                pair = (f"({a} & 7).to(tl.float32)", f"({a} & 7).astype(f32)")
            self.assign(self.fresh(kind), pair)
        elif what == "if":
            name = self.fresh(kind)
            start = self.choose(self.pool(kind)[:-1])
            self.emit(f"{name} = {start}")
            self.emit("if low > 2:")
            self.indent += 1
            self.assign(name, self.expression(kind))
            self.indent -= 1
            self.emit("else:")
            self.indent += 1
            self.assign(name, self.expression(kind))
            self.indent -= 1
        else:
            name = self.fresh(kind)
            start = self.choose(self.pool(kind)[:-1])
            spread = "tl.broadcast_to({}, (ROWS, COLS))", "np.broadcast_to({}, (ROWS, COLS))"
            self.emit(f"{name} = {spread[0].format(start)}", f"{name} = {spread[1].format(start)}")
            self.emit("for step in range(steps):")
            self.indent += 1
            self.assign(name, self.expression(kind))
            if kind == "i":
                self.emit(f"{name} += step", f"{name} = {name} + np.int32(step)")
            self.indent -= 1


def make_kernel(seed, statements):
    """(Triton text, numpy text) of the kernel of a seed."""
    maker = Maker(np.random.default_rng(seed), statements)
    return "".join(maker.triton), "".join(maker.numpy)
