# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The IR builder: Piton's and stock's give the same text, and stock parses ours."""

import pytest

from kernels import KERNELS
from piton import _piton
from tracing import trace


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_same_text_as_stock(name):
    fn, signature = KERNELS[name]
    ours = trace(fn, signature, debug=True)
    stock = trace(fn, signature, debug=True, ours=False)
    assert ours.str_nodebug() == stock.str_nodebug()
    assert str(ours) == str(stock)


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_round_trip(name):
    fn, signature = KERNELS[name]
    module = trace(fn, signature, debug=True)
    for text in (str(module), module.str_nodebug()):
        again = _piton.parse_mlir_text(text, _piton.context())
        # Block arguments of loops have no place for a location in the text, so only the
        # form without locations is a fixed point.
        assert again.str_nodebug() == module.str_nodebug()
