# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The `npu` device of torch on Piton's simulated NPU.

`import torch` alone loads it, through the entry point in `autoload.py`; with
TORCH_DEVICE_BACKEND_AUTOLOAD=0, `import piton_torch.device` does.
"""
