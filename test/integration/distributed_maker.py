# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes random distributed kernels and what they must leave behind.

A kernel runs in phases. In a phase every block of every PE reads one symmetric buffer, its own or
another PE's, through loops, offsets, masks and selected ranks, writes the other buffer of some PE
in its own slot, adds to counters, and then all meet by a barrier, by signals to everybody, or by a
chain of signals through PE 0. `emulate` does the same with numpy, one PE after the other.
"""

import random

import numpy as np

CHUNK = 16
TYPES = ("int32", "int64", "int8", "float32")


class Maker:
    """One kernel: `source` is its Python text, `emulate(world)` gives the buffers at its end."""

    def __init__(self, seed, world):
        self.rng = random.Random(f"{seed} {world}")
        self.seed, self.world = seed, world
        self.dtype = self.rng.choice(TYPES)
        self.blocks = self.rng.randint(1, 3)
        self.phases = self.rng.randint(1, 3)
        self.length = world * self.blocks * CHUNK
        self.kernel, self.model, self.names = [], [], 0
        for phase in range(self.phases):
            self.phase(phase)
        head = f"def fuzz_{seed}(x0, x1, out, acc, sig, LENGTH: tl.constexpr):"
        start = [
            "me, n, pid = dl.rank(), dl.num_ranks(), tl.program_id(0)",
            f"lanes = tl.arange(0, {CHUNK})",
        ]
        body = "\n".join("    " + line for line in start + self.kernel)
        self.source = f"@triton.jit\n{head}\n{body}\n"

    # -- pieces of text -------------------------------------------------------------------

    def emit(self, kernel, model=None):
        """A line of the kernel, and the same for numpy (equal unless given)."""
        self.kernel.append(kernel)
        self.model.append(kernel if model is None else model)

    def name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def number(self, top):
        return str(self.rng.randrange(top))

    def scalar(self, names=("me", "pid", "n")):
        """A small expression of i32 scalars that is not negative, and its numpy form."""
        kind = self.rng.randrange(6)
        a, b = self.rng.choice(names), self.rng.choice(names)
        c = self.rng.randint(1, 5)
        if kind == 0:
            return (str(c),) * 2
        if kind == 1:
            return (a,) * 2
        if kind == 2:
            return (f"({a} * {c} + {b})",) * 2
        if kind == 3:
            return (f"(({a} + {c}) // 2)",) * 2
        if kind == 4:
            return (f"(({a} + {b} * 3) % {c + 1})",) * 2
        other = self.rng.choice(names)
        return f"tl.where({a} > {b}, {other} + {c}, {b})", f"({other} + {c} if {a} > {b} else {b})"

    def rank(self, names=("me", "pid", "n")):
        kernel, model = self.scalar(names)
        return f"({kernel}) % n", f"({model}) % n"

    def index(self, names=("me", "pid", "n")):
        """Lanes times a stride plus an offset, perhaps out of bounds, and a mask that is not."""
        kernel, model = self.scalar(names)
        stride, scale = self.rng.choice([1, 1, 2, 3]), self.rng.choice([1, 4, CHUNK])
        i, m = self.name("i"), self.name("m")
        self.emit(f"{i} = lanes * {stride} + {kernel} * {scale}",
                  f"{i} = lanes * {stride} + {model} * {scale}")  # fmt: skip
        kind = self.rng.randrange(4)
        extra = {
            0: "",
            1: f" & (lanes < {self.rng.randint(0, CHUNK)})",
            2: f" & ({i} % {self.rng.randint(2, 4)} != {self.rng.randrange(2)})",
            3: f" & (lanes >= {kernel})",
        }
        self.emit(f"{m} = ({i} < LENGTH){extra[kind]}",
                  f"{m} = ({i} < LENGTH){extra[kind].replace(kernel, model)}")  # fmt: skip
        return i, m

    def read(self, current, v):
        getattr(self, "read_" + self.rng.choice(["plain", "walk", "all", "branch", "hop", "tile"]))(
            current, v
        )

    def load(self, v, pointer, array, i, m, extra="", indent=""):
        other = self.rng.randrange(4)
        self.emit(
            f"{indent}{v} += tl.load({pointer} + {i}{extra}, mask={m}, other={other})",
            f"{indent}{v} = {v} + ld({array}, {i}{extra}, {m}, {other})",
        )

    def read_plain(self, current, v):
        kernel, model = self.rank()
        r = self.name("r")
        i, m = self.index()
        self.emit(f"{r} = dl.symm_at({current}, {kernel})", f"{r} = {current}[{model}]")
        self.load(v, r, r, i, m)

    def read_walk(self, current, v):
        """A pointer that a loop carries."""
        kernel, model = self.rank()
        i, m = self.index()
        r, k = self.name("r"), self.name("k")
        start, step = self.rng.randrange(CHUNK), self.rng.choice([1, 2, CHUNK])
        self.emit(f"{r} = dl.symm_at({current} + {start}, {kernel})", f"{r} = {current}[{model}]")
        self.emit(f"{k} = 0")
        self.emit(f"for step in range({self.rng.randint(0, 3)} + pid):")
        inside = f"{m} & ({i} + {start} + {k} < LENGTH)"
        self.emit(
            f"    {v} += tl.load({r} + {i}, mask={inside}, other=1)",
            f"    {v} = {v} + ld({r}, {i} + {start} + {k}, {inside}, 1)",
        )
        self.emit(f"    {r} += {step}", "    pass")
        self.emit(f"    {k} += {step}")

    def read_all(self, current, v):
        i, m = self.index()
        peer = self.name("p")
        self.emit(f"for {peer} in range(n):")
        if self.rng.random() < 0.5:
            self.emit(f"    if {peer} != me:")
            indent = " " * 8
        else:
            indent = " " * 4
        r = self.name("r")
        self.emit(
            f"{indent}{r} = dl.symm_at({current}, {peer})", f"{indent}{r} = {current}[{peer}]"
        )
        self.load(v, r, r, i, m, indent=indent)
        self.emit(f"{indent}{v} = ({v} + {peer}).to({v}.dtype)", f"{indent}{v} = add({v}, {peer})")

    def read_branch(self, current, v):
        (a, ma), (b, mb) = self.rank(), self.rank()
        i, m = self.index()
        r = self.name("r")
        self.emit(f"if (me + pid) % 2 == {self.rng.randrange(2)}:")
        self.emit(f"    {r} = dl.symm_at({current}, {a})", f"    {r} = {current}[{ma}]")
        self.emit("else:")
        self.emit(f"    {r} = dl.symm_at({current}, {b})", f"    {r} = {current}[{mb}]")
        self.load(v, r, r, i, m)

    def read_hop(self, current, v):
        """From PE to PE until some condition of the rank holds."""
        kernel, model = self.rank()
        i, m = self.index()
        p, c, r = self.name("p"), self.name("c"), self.name("r")
        self.emit(f"{p} = {kernel}", f"{p} = {model}")
        self.emit(f"{c} = {self.rng.randint(1, 4)} + me * 0")
        self.emit(f"while {c} > 0:")
        self.emit(f"    {r} = dl.symm_at({current}, {p})", f"    {r} = {current}[{p}]")
        self.load(v, r, r, i, m, indent="    ")
        self.emit(f"    {p} = ({p} + {self.rng.randint(1, 2)}) % n")
        self.emit(f"    {c} = {c} - 1 - ({p} == me)", f"    {c} = {c} - 1 - int({p} == me)")

    def read_tile(self, current, v):
        kernel, model = self.rank()
        rows = self.rng.choice([2, 4])
        r, t, m = self.name("r"), self.name("t"), self.name("m")
        off = self.rng.randrange(CHUNK)
        self.emit(f"{r} = dl.symm_at({current} + {off}, {kernel})", f"{r} = {current}[{model}]")
        self.emit(f"{t} = tl.arange(0, {rows})[:, None] * {CHUNK} + lanes[None, :]",
                  f"{t} = np.arange({rows})[:, None] * {CHUNK} + lanes[None, :]")  # fmt: skip
        cut = self.rng.randint(1, CHUNK)
        self.emit(f"{m} = ({t} + {off} < LENGTH) & (lanes[None, :] < {cut})")
        self.emit(
            f"{v} += tl.sum(tl.load({r} + {t}, mask={m}, other=0), 0).to({v}.dtype)",
            f"{v} = {v} + ld({r}, {t} + {off}, {m}, 0).sum(0).astype(dtype)",
        )

    def write(self, following, v):
        kernel, model = self.rank()
        cut = self.rng.choice([CHUNK, self.rng.randint(0, CHUNK)])
        r, at, m = self.name("r"), self.name("at"), self.name("m")
        self.emit(f"{at} = (me * {self.blocks} + pid) * {CHUNK} + lanes")
        self.emit(f"{m} = lanes < {cut}")
        base, inner = (f"{following}", f" + {at}")
        if self.rng.random() < 0.5:  # the offset before the address is translated
            base, inner = f"{following} + (me * {self.blocks} + pid) * {CHUNK}", " + lanes"
        if self.rng.random() < 0.3:  # to everybody
            p = self.name("p")
            self.emit(f"for {p} in range(n):")
            self.emit(f"    {r} = dl.symm_at({base}, {p})", f"    {r} = {following}[{p}]")
            indent = "    "
        else:
            self.emit(f"{r} = dl.symm_at({base}, {kernel})", f"{r} = {following}[{model}]")
            indent = ""
        self.emit(f"{indent}tl.store({r}{inner}, {v}, mask={m})",
                  f"{indent}{r}[{at}[{m}]] = {v}[{m}]")  # fmt: skip

    def count(self, v):
        kernel, model = self.rank()
        slot, mslot = self.scalar()
        self.emit(f"tl.atomic_add(dl.symm_at(acc, {kernel}) + {slot}, pid + 1)",
                  f"acc[{model}][{mslot}] += pid + 1")  # fmt: skip

    def meet(self, phase):
        kind = self.rng.choice(["barrier", "signals", "chain"])
        slots = self.world * self.blocks
        base = phase * (slots + 2) * 16
        mine = f"(me * {self.blocks} + pid) * 16"
        if kind == "barrier":
            lines = ["libshmem_device.barrier_all()"]
        elif kind == "signals":  # every block of every PE to every PE
            lines = [
                "for q in range(n):",
                f"    dl.notify(sig + {base} + {mine}, q, signal={phase + 3})",
                f"dl.wait(sig + {base}, {slots}, 'gpu', 'acquire', waitValue={phase + 3})",
            ]
        else:  # PE 0 counts, then lets all go
            gather, go = base + slots * 16, base + (slots + 1) * 16
            lines = [
                f"dl.notify(sig + {gather}, 0, signal=1, sig_op='add')",
                "if me == 0 and pid == 0:",
                f"    dl.wait(sig + {gather}, 1, 'gpu', 'acquire', waitValue={slots})",
                "    for q in range(n):",
                f"        dl.notify(sig + {go}, q, signal=9)",
                f"token = dl.wait(sig + {go}, 1, 'gpu', 'acquire', waitValue=9)",
            ]
        for line in lines:
            self.emit(line, "")

    def phase(self, phase):
        current, following = ("x0", "x1") if phase % 2 == 0 else ("x1", "x0")
        v = self.name("v")
        self.model.append(f"# phase {phase}")
        self.emit(f"{v} = (tl.zeros(({CHUNK},), tl.int32) + me).to({current}.dtype.element_ty)",
                  f"{v} = np.full({CHUNK}, me, dtype)")  # fmt: skip
        for _ in range(self.rng.randint(1, 2)):
            self.read(current, v)
        self.write(following, v)
        if self.rng.random() < 0.5:
            self.count(v)
        at = f"({phase} * {self.blocks} + pid) * {CHUNK} + lanes"
        self.emit(f"tl.store(out + {at}, {v})", f"out[me][{at}] = {v}")
        self.meet(phase)

    # -- what must come out ---------------------------------------------------------------

    def signal_words(self):
        return self.phases * (self.world * self.blocks + 2) * 16

    def initial(self, rank):
        """x0, x1, out, acc of a PE at the start."""
        base = (np.arange(self.length) * 3 + rank * 5) % 13
        zeros = np.zeros(self.phases * self.blocks * CHUNK)
        return [base.astype(self.dtype), (base * 2 % 7).astype(self.dtype),
                zeros.astype(self.dtype), np.zeros(64, np.int32)]  # fmt: skip

    def emulate(self):
        """x0, x1, out, acc of every PE at the end."""
        state = [self.initial(rank) for rank in range(self.world)]
        x0, x1, out, acc = ([s[k] for s in state] for k in range(4))
        dtype = np.dtype(self.dtype)

        def ld(array, index, mask, other):
            index, mask = np.broadcast_arrays(index, mask)
            result = np.full(index.shape, other, dtype)
            result[mask] = array[index[mask]]
            return result

        def add(vector, scalar):
            return vector + dtype.type(scalar)

        phases = "\n".join(self.model).split("# phase ")[1:]
        for text in phases:
            code = compile(text.split("\n", 1)[1], f"phase of seed {self.seed}", "exec")
            for me in range(self.world):
                for pid in range(self.blocks):
                    exec(code, {  # noqa: S102 (text that this class made)
                        "np": np, "ld": ld, "add": add, "dtype": dtype, "LENGTH": self.length,
                        "x0": x0, "x1": x1, "out": out, "acc": acc, "me": me, "pid": pid,
                        "n": self.world, "lanes": np.arange(CHUNK),
                    })  # fmt: skip
        return state


if __name__ == "__main__":
    import sys

    made = Maker(int(sys.argv[1]), int(sys.argv[2]))
    print(made.source)
    print("\n".join(made.model))
    print(made.emulate())
