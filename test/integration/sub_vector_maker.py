# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes random kernels that ask for sub_vec_id, and runs them in Python as two sides.

Memory is one int32 buffer: 64 words that only once-only work writes, 64 words of each side, 8
counters that all may add to. Sides read the first part and their own; once-only work reads all. So
the end is the same for every order that keeps the rules, and `emulate` needs only one of them: each
side is a generator that stops where it waits, and does once-only work at a meeting of both.
"""

import random

import numpy as np

SIDE, COUNT, WORDS, LANES = 64, 192, 200, 8


class Maker:
    """`source`: the kernel `sides_<seed>(mem, flags)`; `emulate()`: the memory at its end."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.seed, self.names, self.flags = seed, 0, 0
        self.lines, self.model = [], []
        once, own = ["n"], ["side"]
        self.both("    n = tl.load(mem + 63) + 3", "n = int(mem[63]) + 3")
        self.block(1, 6, False, once, own)
        for name in once:
            self.both(f"    tl.atomic_add(mem + {COUNT + 7}, {name})", None, once=True)
            self.meet(f"mem[{COUNT + 7}] = wrap(int(mem[{COUNT + 7}]) + {name})", 0)
        for name in own:
            at = f"{SIDE} + side * 64 + 62"
            self.both(f"    tl.store(mem + {at}, tl.load(mem + {at}) + {name})",
                      f"mem[{at}] = wrap(int(mem[{at}]) + {name})")  # fmt: skip
        head = f"@triton.jit\ndef sides_{seed}(mem, flags):\n"
        start = f"    side = sub_vec_id().to(tl.int32)\n    lanes = tl.arange(0, {LANES})\n"
        self.source = head + start + "\n".join(self.lines) + "\n"

    def both(self, kernel, model, once=False):
        self.lines.append(kernel)
        if not once:
            self.model.append(" " * (len(kernel) - len(kernel.lstrip()) - 4) + model.lstrip())

    def meet(self, text, indent, result=None):
        """Once-only work: both come, side 0 does it, both know the result."""
        pad = " " * indent
        self.model += [f"{pad}yield MEET", f"{pad}if side == 0:"]
        self.model += [f"{pad}    {line}" for line in text.split("\n")]
        if result:
            self.model += [f"{pad}    shared[0] = {result}"]
        self.model += [f"{pad}yield MEET"]
        if result:
            self.model += [f"{pad}{result} = shared[0]", f"{pad}yield MEET"]

    def name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def value(self, names):
        a, b = self.rng.choice(names), self.rng.choice(names)
        c = self.rng.randint(1, 5)
        return self.rng.choice(
            [f"{a}", f"({a} + {b} + {c})", f"({a} * {c} + 1)", f"({a} - {b} * {c})"]
        )

    def place(self, names, size):
        """An index below `size`."""
        return f"(({self.value(names)}) & {size - 1})"

    def condition(self, names):
        return f"(({self.value(names)}) & 7) % {self.rng.randint(2, 3)} == {self.rng.randrange(2)}"

    def block(self, depth, count, dependent, once, own):
        for _ in range(self.rng.randint(1, count)):
            self.statement(depth, dependent, once, own)

    def statement(self, depth, dependent, once, own):
        kinds = ["own_value", "own_store", "own_add", "own_load", "own_lanes"]
        if not dependent:
            kinds += ["value", "store", "add", "load", "lanes", "handshake", "handshake"]
        if depth < 4:
            kinds += ["branch", "branch", "loop", "loop", "while"]
        getattr(self, "do_" + self.rng.choice(kinds))(depth, dependent, once, own)

    # Work of each side.

    def do_own_value(self, depth, dependent, once, own):
        known = [name for name in own if name[0] == "s" and name != "side"]
        name = self.rng.choice(known) if known else None
        text = self.value(once + own)
        pad = "    " * depth
        if name is None or (not dependent and self.rng.random() < 0.5):
            if dependent:
                return  # new names only where both sides come by
            own.append(name := self.name("s"))
            self.both(f"{pad}{name} = side + {text}", f"{name} = wrap(side + {text})")
        else:
            self.both(f"{pad}{name} = {text}", f"{name} = wrap({text})")

    def do_own_store(self, depth, dependent, once, own):
        at = f"{SIDE} + side * 64 + {self.place(once + own, 32)}"
        text = self.value(once + own)
        self.both(f"{'    ' * depth}tl.store(mem + {at}, {text})", f"mem[{at}] = wrap({text})")

    def do_own_lanes(self, depth, dependent, once, own):
        at = f"{SIDE} + side * 64 + {self.place(once + own, 32)}"
        source = self.place(once + own, 32)
        text, cut = self.value(once + own), self.place(once + own, LANES)
        self.both(
            f"{'    ' * depth}tl.store(mem + {at} + lanes, "
            f"tl.load(mem + {source} + lanes) + {text}, mask=lanes < {cut})",
            f"put({at}, get({source}) + np.int64({text}), {cut})",
        )

    def do_own_load(self, depth, dependent, once, own):
        known = [name for name in own if name[0] == "s" and name != "side"]
        if not known:
            return self.do_own_store(depth, dependent, once, own)
        name = self.rng.choice(known)
        at = self.rng.choice([self.place(once + own, 64),
                              f"{SIDE} + side * 64 + {self.place(once + own, 64)}"])  # fmt: skip
        self.both(f"{'    ' * depth}{name} = tl.load(mem + {at}) + side",
                  f"{name} = wrap(int(mem[{at}]) + side)")  # fmt: skip

    def do_own_add(self, depth, dependent, once, own):
        at = f"{COUNT} + {self.place(once + own, 4)}"
        text = self.value(once + own)
        self.both(f"{'    ' * depth}tl.atomic_add(mem + {at}, {text} + side)",
                  f"mem[{at}] = wrap(int(mem[{at}]) + {text} + side)")  # fmt: skip

    # Once-only work.

    def do_value(self, depth, dependent, once, own):
        pad, text = "    " * depth, self.value(once)
        known = [name for name in once if name[0] == "o"]
        if known and self.rng.random() < 0.6:
            name = self.rng.choice(known)
        else:
            once.append(name := self.name("o"))
        self.both(f"{pad}{name} = {text} + 0", f"{name} = wrap({text})")

    def do_store(self, depth, dependent, once, own):
        at, text = self.place(once, 32), self.value(once)
        self.both(f"{'    ' * depth}tl.store(mem + {at}, {text})", "", once=True)
        self.meet(f"mem[{at}] = wrap({text})", 4 * depth - 4)

    def do_add(self, depth, dependent, once, own):
        at, text = f"{COUNT} + {self.place(once, 4)}", self.value(once)
        once.append(name := self.name("o"))
        self.both(f"{'    ' * depth}{name} = tl.atomic_add(mem + {at}, {text})", "", once=True)
        self.meet(
            f"{name} = int(mem[{at}])\nmem[{at}] = wrap({name} + {text})", 4 * depth - 4, name
        )

    def do_load(self, depth, dependent, once, own):
        at = self.place(once, 128)
        once.append(name := self.name("o"))
        self.both(f"{'    ' * depth}{name} = tl.load(mem + {at})", "", once=True)
        self.meet(f"{name} = int(mem[{at}])", 4 * depth - 4, name)

    def do_lanes(self, depth, dependent, once, own):
        """Read once, written by each side and, summed up, once."""
        pad, at, to = "    " * depth, self.place(once, 128), self.place(once, 32)
        v = self.name("v")
        self.both(f"{pad}{v} = tl.load(mem + {at} + lanes)", "", once=True)
        self.meet(f"{v} = get({at})", 4 * depth - 4, v)
        self.both(
            f"{pad}tl.store(mem + {SIDE} + side * 64 + {to} + lanes, {v} + side)",
            f"put({SIDE} + side * 64 + {to}, {v} + side, {LANES})",
        )
        self.both(f"{pad}tl.store(mem + {to}, tl.sum({v}))", "", once=True)
        self.meet(f"mem[{to}] = wrap(int({v}.sum()))", 4 * depth - 4)

    def do_handshake(self, depth, dependent, once, own):
        """One side waits for the other, as often as it comes by: the count is in a word."""
        pad, flag, first = "    " * depth, self.flags * 16, self.rng.randrange(2)
        self.flags += 1
        self.both(f"{pad}if side == {first}:", f"if side == {first}:")
        self.both(f"{pad}    tl.atomic_add(flags + {flag}, 1)", f"    flags[{flag}] += 1")
        self.both(f"{pad}else:", "else:")
        self.both(f"{pad}    seen = tl.load(flags + {flag + 1})", f"    seen = flags[{flag + 1}]")
        self.both(f"{pad}    while tl.atomic_add(flags + {flag}, 0) <= seen:",
                  f"    while flags[{flag}] <= seen:")  # fmt: skip
        self.both(f"{pad}        pass", "        yield WAIT")
        self.both(f"{pad}    tl.store(flags + {flag + 1}, seen + 1)",
                  f"    flags[{flag + 1}] = seen + 1")  # fmt: skip

    # Loops and branches.

    def do_branch(self, depth, dependent, once, own):
        inner = dependent or self.rng.random() < 0.5
        pad, text = "    " * depth, self.condition(once + own if inner else once)
        self.both(f"{pad}if {text}:", f"if {text}:")
        self.inside(depth, inner, once, own)
        if self.rng.random() < 0.5:
            self.both(f"{pad}else:", "else:")
            self.inside(depth, inner, once, own)

    def inside(self, depth, inner, once, own):
        """Names that begin in a body end with it."""
        self.both("    " * (depth + 1) + "pass", "pass")
        self.block(depth + 1, 3, inner, list(once), list(own))

    def do_loop(self, depth, dependent, once, own):
        inner = dependent or self.rng.random() < 0.3
        pad, i = "    " * depth, self.name("i")
        bound = f"({self.value(once + own if inner else once)}) & 3"
        self.both(f"{pad}for {i} in range({bound}):", f"for {i} in range({bound}):")
        self.both(f"{pad}    pass", "    pass")
        self.block(depth + 1, 3, inner, once + ([] if inner else [i]), own + ([i] if inner else []))

    def do_while(self, depth, dependent, once, own):
        inner = dependent or self.rng.random() < 0.3
        pad, i = "    " * depth, self.name("w")
        bound = f"({self.value(once + own if inner else once)}) & 3"
        self.both(f"{pad}{i} = {bound}", f"{i} = {bound}")
        self.both(f"{pad}while {i} > 0:", f"while {i} > 0:")
        self.both(f"{pad}    {i} -= 1", f"    {i} -= 1")
        self.block(depth + 1, 3, inner, list(once), list(own))

    # -- what must come out ---------------------------------------------------------------

    def initial(self):
        return ((np.arange(WORDS) * 7 + self.seed) % 23).astype(np.int32)

    def flag_words(self):
        return 16 * max(self.flags, 1)

    def emulate(self):
        """The memory at the end; the same whichever side comes first."""
        ends = [self.run(order) for order in ((0, 1), (1, 0))]
        assert np.array_equal(*ends), f"seed {self.seed}: not the same in every order"
        return ends[0]

    def run(self, order):
        mem, flags, shared = self.initial(), [0] * self.flag_words(), [None]

        def wrap(x):
            return (int(x) + 2**31) % 2**32 - 2**31

        def get(at):
            return mem[at : at + LANES].copy()

        def put(at, values, cut):
            mem[at : at + cut] = np.asarray(values).astype(np.int64).astype(np.int32)[:cut]

        space = {"MEET": "meet", "WAIT": "wait", "mem": mem, "flags": flags, "shared": shared,
                 "wrap": wrap, "get": get, "put": put, "np": np}  # fmt: skip
        text = "def program(side):\n" + "\n".join("    " + line for line in self.model)
        exec(compile(text, f"seed {self.seed}", "exec"), space)  # noqa: S102 (text of this class)
        sides = [space["program"](side) for side in range(2)]
        at = ["wait", "wait"]
        for _ in range(100_000):
            go = order if at == ["meet", "meet"] else [k for k in order if at[k] == "wait"]
            for k in go:
                at[k] = next(sides[k], "end")
            if at == ["end", "end"]:
                return mem
        raise AssertionError(f"seed {self.seed}: the sides are at {at} and do not end")


if __name__ == "__main__":
    import sys

    made = Maker(int(sys.argv[1]))
    print(made.source)
    print("\n".join(made.model))
    print(made.emulate())
