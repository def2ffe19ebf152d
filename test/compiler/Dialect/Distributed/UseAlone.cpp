// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The distributed dialect without any Ascend dialect: only `tt` and `distributed` are registered,
// and the linker takes nothing else out of the compiler's archive (a test looks). A program of its
// own, because gtest's library would pull members out of the archive for standard templates.
#include "compiler/Dialect/Distributed/Distributed.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <cstdio>

using namespace mlir;
namespace dist = mlir::triton::distributed;

namespace {

constexpr char kProgram[] = R"(
tt.func public @k(%sig: !tt.ptr<i32>, %data: !tt.ptr<f32>, %n: i32) {
  %me = distributed.get_rank %n : i32
  %tok = distributed.wait %sig, %n, %n, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %p = distributed.consume_token %data, %tok, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %r = distributed.symm_at %p, %me, : !tt.ptr<f32>
  %x = tt.load %r : !tt.ptr<f32>
  tt.return
}
)";

int failures = 0;

void check(bool holds, const char *what) {
  if (holds)
    return;
  std::fprintf(stderr, "failed: %s\n", what);
  ++failures;
}

void parsesVerifiesAndPrints() {
  DialectRegistry registry;
  registry.insert<triton::TritonDialect, dist::DistributedDialect>();
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kProgram, &context);
  if (!module || failed(verify(*module)))
    return check(false, "the program parses and verifies");
  std::string first, second;
  llvm::raw_string_ostream(first) << *module;
  OwningOpRef<ModuleOp> again = parseSourceString<ModuleOp>(first, &context);
  if (!again)
    return check(false, "what was printed parses");
  llvm::raw_string_ostream(second) << *again;
  check(first == second, "printing again gives the same text");
  for (StringRef name : {"hivm", "hfusion", "annotation", "hacc", "scope", "ascend"})
    check(!context.getOrLoadDialect(name), "no Ascend dialect is registered");
}

void dependsOnNoDialect() {
  DialectRegistry registry;
  registry.insert<dist::DistributedDialect>();
  MLIRContext context(registry);
  size_t before = context.getLoadedDialects().size();
  context.loadDialect<dist::DistributedDialect>();
  check(context.getLoadedDialects().size() == before + 1, "loading it loads no other dialect");
}

void effectsAndSpeculation() {
  DialectRegistry registry;
  registry.insert<triton::TritonDialect, dist::DistributedDialect>();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  OpBuilder builder(&context);
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder, loc);
  builder.setInsertionPointToEnd(module->getBody());
  auto call = [&](bool pure) {
    return dist::ExternCallOp::create(builder, loc, TypeRange(), ValueRange(), "lib", "", "f",
                                      pure);
  };
  dist::ExternCallOp pure = call(true), impure = call(false);
  check(pure.getSpeculatability() == Speculation::Speculatable, "a pure call is speculatable");
  check(impure.getSpeculatability() == Speculation::NotSpeculatable, "other calls are not");
  check(isMemoryEffectFree(pure), "a pure call has no effect");
  check(hasEffect<MemoryEffects::Read>(impure) && hasEffect<MemoryEffects::Write>(impure),
        "other calls read and write");

  OwningOpRef<ModuleOp> parsed = parseSourceString<ModuleOp>(kProgram, &context);
  parsed->walk([](Operation *op) {
    if (isa<dist::WaitOp>(op)) {
      // Memory is only read; what is written is an order.
      check(hasEffect<MemoryEffects::Read>(op), "a wait reads");
      SmallVector<MemoryEffects::EffectInstance> effects;
      cast<MemoryEffectOpInterface>(op).getEffects(effects);
      for (const MemoryEffects::EffectInstance &effect : effects)
        if (isa<MemoryEffects::Write>(effect.getEffect()))
          check(effect.getResource() == dist::WaitOrder::get(), "and writes an order only");
    }
    if (isa<dist::SymmAtOp>(op))
      check(hasSingleEffect<MemoryEffects::Read>(op), "symm_at only reads");
    if (isa<dist::GetRankOp>(op))
      check(isPure(op), "get_rank is pure");
    if (isa<dist::ConsumeTokenOp>(op))
      check(isMemoryEffectFree(op), "consume_token has no effect");
  });
}

} // namespace

int main() {
  parsesVerifiesAndPrints();
  dependsOnNoDialect();
  effectsAndSpeculation();
  return failures != 0;
}
