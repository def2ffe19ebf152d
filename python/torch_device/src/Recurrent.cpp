// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fused cells of LSTM and GRU. For devices of this kind torch.nn.LSTM and GRU call these operators,
// for which the CPU has no kernels. A workspace is only read by the backward of its own forward.

#include "Alias.h"

#include <ATen/ops/cat.h>
#include <torch/library.h>

#include <tuple>
#include <vector>

namespace piton::torch_device {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

bool given(const OptionalTensor &tensor) { return tensor && tensor->defined(); }

/// The aliases of one cell call.
class Cell {
public:
  Tensor in(const Tensor &tensor) { return aliases.enter(tensor); }
  /// gates + bias, where there is one.
  Tensor in(const Tensor &gates, const OptionalTensor &bias) {
    Tensor host = in(gates);
    return given(bias) ? host.add(in(*bias)) : host;
  }
  Tensor out(const Tensor &tensor) { return aliases.leave(tensor, "aten::_thnn_fused_cell"); }

private:
  AliasSet aliases;
};

/// Enters a call on the device of `tensor`: after its stream's kernels, with memory from it.
class OnDevice {
public:
  explicit OnDevice(const Tensor &tensor) : route((joinStream(index(tensor)), index(tensor))) {
    counters().fallbacks.fetch_add(1, std::memory_order_relaxed);
  }

private:
  static c10::DeviceIndex index(const Tensor &tensor) { return tensor.device().index(); }
  RouteAllocations route;
};

/// Elementwise products. The operators of Tensor would bring all of torch's headers along.
Tensor product(const Tensor &a, const Tensor &b) { return a.mul(b); }
Tensor product(const Tensor &a, const Tensor &b, const Tensor &c) { return a.mul(b).mul_(c); }

/// 1 - value; derivative of a sigmoid, and of a tanh, from its value.
Tensor rest(const Tensor &value) { return value.neg().add_(1); }
Tensor sigmoidSlope(const Tensor &value) { return product(value, rest(value)); }
Tensor tanhSlope(const Tensor &value) { return rest(product(value, value)); }

std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor &inputGates, const Tensor &hiddenGates,
                                        const Tensor &cx, const OptionalTensor &inputBias,
                                        const OptionalTensor &hiddenBias) {
  Cell cell;
  OnDevice on(inputGates);
  Tensor gates = cell.in(inputGates, inputBias).add(cell.in(hiddenGates, hiddenBias));
  std::vector<Tensor> parts = gates.chunk(4, 1);
  Tensor i = parts[0].sigmoid_(), f = parts[1].sigmoid_(), g = parts[2].tanh_(),
         o = parts[3].sigmoid_();
  Tensor cy = product(f, cell.in(cx)).add_(product(i, g));
  Tensor hy = product(o, cy.tanh());
  return {cell.out(hy), cell.out(cy), cell.out(gates)};
}

std::tuple<Tensor, Tensor, Tensor> lstmBackward(const OptionalTensor &gradHy,
                                                const OptionalTensor &gradCy, const Tensor &cx,
                                                const Tensor &cy, const Tensor &workspace,
                                                bool hasBias) {
  if (!given(gradHy) && !given(gradCy))
    return {};
  Cell cell;
  OnDevice on(workspace);
  std::vector<Tensor> parts = cell.in(workspace).chunk(4, 1);
  const Tensor &i = parts[0], &f = parts[1], &g = parts[2], &o = parts[3];
  Tensor squashed = cell.in(cy).tanh();
  Tensor gradO = squashed.new_zeros(squashed.sizes()), gradC = gradO;
  if (given(gradHy)) {
    Tensor grad = cell.in(*gradHy);
    gradO = product(grad, squashed, sigmoidSlope(o));
    gradC = product(grad, o, tanhSlope(squashed));
  }
  if (given(gradCy))
    gradC = gradC.add(cell.in(*gradCy));
  Tensor gates =
      at::cat({product(gradC, g, sigmoidSlope(i)), product(gradC, cell.in(cx), sigmoidSlope(f)),
               product(gradC, i, tanhSlope(g)), gradO},
              1);
  Tensor bias = hasBias ? cell.out(gates.sum(0)) : Tensor();
  return {cell.out(gates), cell.out(product(gradC, f)), bias};
}

std::tuple<Tensor, Tensor> gru(const Tensor &inputGates, const Tensor &hiddenGates,
                               const Tensor &hx, const OptionalTensor &inputBias,
                               const OptionalTensor &hiddenBias) {
  Cell cell;
  OnDevice on(inputGates);
  std::vector<Tensor> x = cell.in(inputGates, inputBias).chunk(3, 1);
  std::vector<Tensor> h = cell.in(hiddenGates, hiddenBias).chunk(3, 1);
  Tensor state = cell.in(hx);
  Tensor r = x[0].add(h[0]).sigmoid_(), z = x[1].add(h[1]).sigmoid_();
  Tensor n = product(r, h[2]).add_(x[2]).tanh_();
  Tensor hy = state.sub(n).mul_(z).add_(n);
  return {cell.out(hy), cell.out(at::cat({r, z, n, state, h[2]}, 1))};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>
gruBackward(const Tensor &gradHy, const Tensor &workspace, bool hasBias) {
  Cell cell;
  OnDevice on(workspace);
  std::vector<Tensor> parts = cell.in(workspace).chunk(5, 1);
  const Tensor &r = parts[0], &z = parts[1], &n = parts[2], &state = parts[3], &hn = parts[4];
  Tensor grad = cell.in(gradHy);
  Tensor gradZ = product(grad, state.sub(n), sigmoidSlope(z));
  Tensor gradN = product(grad, rest(z), tanhSlope(n));
  Tensor gradR = product(gradN, hn, sigmoidSlope(r));
  Tensor input = at::cat({gradR, gradZ, gradN}, 1);
  Tensor hidden = at::cat({gradR, gradZ, product(gradN, r)}, 1);
  Tensor inputBias = hasBias ? cell.out(input.sum(0)) : Tensor();
  Tensor hiddenBias = hasBias ? cell.out(hidden.sum(0)) : Tensor();
  return {cell.out(input), cell.out(hidden), cell.out(product(grad, z)), inputBias, hiddenBias};
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("_thnn_fused_lstm_cell", lstm);
  library.impl("_thnn_fused_lstm_cell_backward_impl", lstmBackward);
  library.impl("_thnn_fused_gru_cell", gru);
  library.impl("_thnn_fused_gru_cell_backward", gruBackward);
}

} // namespace piton::torch_device
