# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small kernels written after public bug reports, with the values that are right."""

import pytest

from case_runner import case_files, load_case, run_case

# What the stock front end itself refuses: the expected outcome is its error.
REFUSED = {}


@pytest.mark.parametrize("path", case_files(), ids=lambda p: p.stem)
def test_case(path):
    if "triton_dist" in path.read_text():
        pytest.skip("needs several PEs: test_distributed.py runs it")
    case = load_case(path)
    if path.stem in REFUSED:
        with pytest.raises(Exception, match=REFUSED[path.stem]):
            run_case(case)
        return
    run_case(case)
