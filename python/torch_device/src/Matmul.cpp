// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of fp16 and bf16 matrices by Piton's tile product, where torch's own CPU kernels are
// slow: without hardware for these types they run at a few GFLOP/s. Whatever does not fit (other
// types, mixed arguments, wrong shapes) goes to the fallback, which also makes the errors.

#include "Alias.h"
#include "Fallback.h"

#include <ATen/EmptyTensor.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/Scalar.h>
#include <torch/library.h>

#include <cstdlib>
#include <string_view>

namespace piton::torch_device {
namespace {

/// oneDNN, torch's own way, is fast for a type only on CPUs with instructions for it.
bool hostIsFast(at::ScalarType type) {
#if defined(__x86_64__)
  static const bool brain = __builtin_cpu_supports("avx512bf16");
  static const bool half = __builtin_cpu_supports("avx512fp16");
#else
  static const bool brain = true, half = true;
#endif
  return type == at::kBFloat16 ? brain : half;
}

/// PITON_TORCH_PRODUCT: "tile" or "torch" decides for all products (tests, measurements).
bool wantsTileProduct(at::ScalarType type) {
  static const char *choice = std::getenv("PITON_TORCH_PRODUCT");
  if (choice && std::string_view(choice) == "tile")
    return true;
  if (choice && std::string_view(choice) == "torch")
    return false;
  return !hostIsFast(type);
}

/// The arguments of mm, bmm, addmm and baddbmm in all their forms.
struct Arguments {
  const at::Tensor *addend = nullptr, *a = nullptr, *b = nullptr, *out = nullptr;
  double alpha = 1, beta = 0;
};

/// Takes the arguments off the schema's names; false if one is not what a product here can have.
bool readArguments(const c10::FunctionSchema &schema, const torch::jit::Stack &stack,
                   Arguments &out) {
  std::string_view name = schema.name();
  bool adds = name.find("::add") != name.npos || name.find("::badd") != name.npos;
  size_t count = schema.arguments().size(), first = stack.size() - count;
  const c10::IValue *values = &stack[first];
  size_t next = 0;
  auto tensor = [&] { return values[next].isTensor() ? &values[next++].toTensor() : nullptr; };
  if (adds && !(out.addend = tensor()))
    return false;
  if (!(out.a = tensor()) || !(out.b = tensor()))
    return false;
  if (adds) {
    if (count < next + 2 || !values[next].isScalar() || !values[next + 1].isScalar())
      return false;
    c10::Scalar beta = values[next].toScalar(), alpha = values[next + 1].toScalar();
    if (beta.isComplex() || alpha.isComplex())
      return false;
    out.beta = beta.toDouble();
    out.alpha = alpha.toDouble();
    next += 2;
  }
  if (name.back() == '_')
    out.out = out.addend;
  else if (next < count && !(out.out = tensor()))
    return false;
  return next == count;
}

bool suits(const at::Tensor &tensor, const at::Tensor &like, int64_t dims) {
  return tensor.defined() && tensor.device() == like.device() && tensor.dtype() == like.dtype() &&
         tensor.dim() == dims && tensor.numel() > 0 && !tensor.is_neg() && !tensor.is_conj() &&
         !tensor._is_zerotensor();
}

/// Operand of the runtime; `strides` are those of the last two or three dimensions.
piton_matrix_t operand(const at::Tensor &tensor) {
  int64_t d = tensor.dim();
  return {tensor.const_data_ptr(), d == 3 ? tensor.stride(0) : 0, tensor.stride(d - 2),
          tensor.stride(d - 1)};
}

/// C as an operand of a result of `size`, broadcast as torch does; false if it does not broadcast.
bool addendOperand(const at::Tensor &c, at::IntArrayRef size, piton_matrix_t &out) {
  int64_t rank = static_cast<int64_t>(size.size()), missing = rank - c.dim();
  if (missing < 0)
    return false;
  int64_t strides[3] = {0, 0, 0};
  for (int64_t d = 0; d < c.dim(); ++d) {
    int64_t at = d + missing;
    if (c.size(d) != 1 && c.size(d) != size[static_cast<size_t>(at)])
      return false;
    strides[at + 3 - rank] = c.size(d) == 1 ? 0 : c.stride(d);
  }
  out = {c.const_data_ptr(), strides[0], strides[1], strides[2]};
  return true;
}

bool overlaps(const at::Tensor &a, const at::Tensor &b) {
  return a.storage().unsafeGetStorageImpl() == b.storage().unsafeGetStorageImpl();
}

/// D may be written by rows: of the right size and type, apart from the operands, columns side by
/// side.
bool writable(const Arguments &arguments, const at::Tensor &d, at::IntArrayRef size) {
  int64_t rank = static_cast<int64_t>(size.size());
  return suits(d, *arguments.a, rank) && d.sizes() == size && d.stride(rank - 1) == 1 &&
         !overlaps(d, *arguments.a) && !overlaps(d, *arguments.b) &&
         (!arguments.addend || d.is_same(*arguments.addend) || !overlaps(d, *arguments.addend));
}

/// Runs the operator with the tile product and leaves its result on the stack; false, with nothing
/// touched, if it is not for it.
bool tryProduct(const c10::OperatorHandle &op, torch::jit::Stack *stack) {
  const c10::FunctionSchema &schema = op.schema();
  Arguments args;
  if (!readArguments(schema, *stack, args))
    return false;
  const at::Tensor &a = *args.a, &b = *args.b;
  at::ScalarType type = a.scalar_type();
  if ((type != at::kHalf && type != at::kBFloat16) || !a.is_privateuseone() ||
      !wantsTileProduct(type))
    return false;
  int64_t dims = schema.name().find("bmm") != std::string::npos ? 3 : 2;
  if (!suits(a, a, dims) || !suits(b, a, dims) || a.size(dims - 1) != b.size(dims - 2) ||
      (dims == 3 && a.size(0) != b.size(0)))
    return false;
  c10::SmallVector<int64_t, 3> size(a.sizes().begin(), a.sizes().end());
  size[static_cast<size_t>(dims) - 1] = b.size(dims - 1);

  piton_product_t product = {};
  if (args.addend && args.beta != 0) {
    const at::Tensor &c = *args.addend;
    if (!suits(c, a, c.dim()) || !addendOperand(c, size, product.c))
      return false;
  }
  if (args.out && !writable(args, *args.out, size))
    return false;

  joinStream(a.device().index());
  at::Tensor d = args.out ? *args.out : at::Tensor();
  if (!d.defined()) {
    c10::DeviceGuard guard(a.device());
    d = at::detail::empty_generic(size, npuAllocator(),
                                  c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), type,
                                  std::nullopt);
  }
  product.type = type == at::kHalf ? PITON_TYPE_F16 : PITON_TYPE_BF16;
  product.batch = dims == 3 ? a.size(0) : 1;
  product.m = a.size(dims - 2);
  product.n = b.size(dims - 1);
  product.k = a.size(dims - 1);
  product.a = operand(a);
  product.b = operand(b);
  product.d = d.mutable_data_ptr();
  product.d_batch = dims == 3 ? d.stride(0) : 0;
  product.d_row = d.stride(dims - 2);
  product.alpha = static_cast<float>(args.alpha);
  product.beta = static_cast<float>(args.beta);
  check(piton_product(&product));
  torch::jit::drop(*stack, schema.arguments().size());
  stack->emplace_back(std::move(d));
  return true;
}

void runMatmul(const c10::OperatorHandle &op, torch::jit::Stack *stack) {
  if (!tryProduct(op, stack))
    runAliased(op, stack);
}

} // namespace

void registerProducts(torch::Library &library) {
  for (const char *name : {"mm", "mm.out", "bmm", "bmm.out", "addmm", "addmm.out", "addmm_",
                           "baddbmm", "baddbmm.out", "baddbmm_"})
    library.impl(name, torch::CppFunction::makeFromBoxedFunction<&runMatmul>());
}

} // namespace piton::torch_device
