# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers on the npu device.

Each device has a generator of its own that gives the numbers of a CPU generator with the same
seed. `torch.manual_seed` seeds all of them.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch

from ._device import device_count, device_index
from ._native import ops


def default_generator(device=None) -> torch.Generator:
    """The generator that random operators use on `device`."""
    return ops().default_generator(device_index(device))


def manual_seed(seed: int) -> None:
    """Seeds the current device."""
    default_generator().manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seeds all devices."""
    for index in range(device_count()):
        default_generator(index).manual_seed(int(seed))


def seed() -> int:
    """Seeds the current device with a number that cannot be known before; returns it."""
    return default_generator().seed()


def seed_all() -> None:
    """Seeds all devices with one number that cannot be known before."""
    manual_seed_all(default_generator(0).seed())


def initial_seed() -> int:
    """The seed of the current device."""
    return default_generator().initial_seed()


def get_rng_state(device="npu") -> torch.Tensor:
    """The generator's state: a uint8 tensor on the CPU."""
    return default_generator(device).get_state()


def set_rng_state(new_state: torch.Tensor, device="npu") -> None:
    """Makes a state from get_rng_state() the state of a device."""
    default_generator(device).set_state(new_state)


def get_rng_state_all() -> list[torch.Tensor]:
    """The states of all devices."""
    return [get_rng_state(index) for index in range(device_count())]


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    """Sets the states of all devices, in order."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)
