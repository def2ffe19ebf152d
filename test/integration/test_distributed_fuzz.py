# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random distributed kernels against numpy (distributed_maker.py says what is in them).

A failure names its seed; PITON_FUZZ_SEED and PITON_FUZZ_COUNT choose others.
"""

import os
import pathlib

import pytest
from distributed_maker import Maker

BODY = """
sys.path.insert(0, {folder!r})
import numpy as np
from distributed_maker import Maker
from {module} import kernels

for seed in {seeds!r}:
    made = Maker(seed, world)
    arrays = made.initial(rank)
    tensors = []
    for k, array in enumerate(arrays):
        tensor = torch.from_numpy(array.copy())
        if k != 2:
            shared = ash.aclshmem_create_tensor([array.size], dtype=tensor.dtype, device_id=rank)
            shared.copy_(tensor)
            tensor = shared
        tensors.append(tensor)
    sig = symmetric(made.signal_words(), torch.int32)
    kernels[seed][(made.blocks,)](*tensors, sig, made.length)
    ash.barrier_all()
    for name, tensor, wanted in zip(("x0", "x1", "out", "acc"), tensors, made.emulate()[rank]):
        assert np.array_equal(tensor.cpu().numpy(), wanted), (
            f"seed {{seed}}, {{world}} PEs, rank {{rank}}, {{name}}:\\n"
            f"{{tensor.cpu().numpy()}}\\n{{wanted}}\\n{{made.source}}"
        )
    ash.barrier_all()
"""


def run(tmp_path, world, seeds):
    import test_distributed as ranks

    made = [Maker(seed, world) for seed in seeds]
    text = "import triton, triton.language as tl\nimport triton_dist.language as dl\n"
    text += "from triton_dist.language.extra import libshmem_device\n\n"
    text += "\n\n".join(m.source for m in made)
    text += "\n\nkernels = {" + ", ".join(f"{seed}: fuzz_{seed}" for seed in seeds) + "}\n"
    (tmp_path / "made_kernels.py").write_text(text)
    body = BODY.format(
        folder=str(pathlib.Path(__file__).parent), module="made_kernels", seeds=list(seeds)
    )
    print("seeds", list(seeds), "PEs", world)
    ranks.run_ranks(tmp_path, world, body, PITON_STANDSTILL_SECONDS="5")


@pytest.mark.parametrize("world", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_known_seeds(tmp_path, world):
    run(tmp_path, world, range(8))


@pytest.mark.slow
@pytest.mark.parametrize("world", [2, 3])
def test_new_seeds(tmp_path, world):
    start = int(os.environ.get("PITON_FUZZ_SEED", int.from_bytes(os.urandom(3), "big")))
    run(tmp_path, world, range(start, start + int(os.environ.get("PITON_FUZZ_COUNT", "16"))))
