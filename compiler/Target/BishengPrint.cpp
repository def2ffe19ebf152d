// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hand-over IR as text for a parser of MLIR 19.1.7. Most of the pretty form of MLIR 22
// reads unchanged; this file holds the differences. They are made on the IR where the
// IR can say it, and else line by line: an op's name opens its line, and MLIR escapes
// line ends inside strings, so a line is what it looks like.
#include "compiler/Target/Bisheng.h"
#include "compiler/Target/BishengForms.h"

#include "abi/HardwareModel.h"

#include "mlir/IR/AsmState.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace piton {

BishengFamily bishengFamilyOf(llvm::StringRef target) {
  const HardwareModel *model = findHardwareModel({target.data(), target.size()});
  if (!model)
    return BishengFamily::C220;
  bool a5 = model->family == SocFamily::Ascend950 || model->family == SocFamily::Ascend310B;
  return a5 ? BishengFamily::A5 : BishengFamily::C220;
}

/// MLIR 19 has no ranges in locations: keeps the start of each.
static LocationAttr withoutRanges(LocationAttr loc) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](FileLineColRange range) -> std::optional<Attribute> {
    return FileLineColLoc::get(range.getContext(), range.getFilename().strref(),
                               range.getStartLine(), range.getStartColumn());
  });
  return cast<LocationAttr>(replacer.replace(loc));
}

/// Every op of a function gets a location: folders make ops without one, and LLVM's verifier
/// refuses a call that may be inlined into a function with debug information and has none.
static void fillLocations(Operation *parent) {
  for (Region &region : parent->getRegions()) {
    for (Block &block : region) {
      Location last = parent->getLoc();
      for (Operation &op : block) {
        if (isa<UnknownLoc>(op.getLoc()))
          op.setLoc(last);
        last = op.getLoc();
        fillLocations(&op);
      }
    }
  }
}

static void dropLocationRanges(ModuleOp module) {
  module.walk([](Operation *op) {
    op->setLoc(withoutRanges(op->getLoc()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument arg : block.getArguments())
          arg.setLoc(withoutRanges(arg.getLoc()));
  });
}

/// Attributes of MLIR 22 whose keyword a parser of 19 stumbles over, and which only
/// promise something to an optimiser.
static void dropNewFlags(ModuleOp module) {
  module.walk([](Operation *op) {
    if (auto trunc = dyn_cast<arith::TruncIOp>(op))
      trunc.setOverflowFlags(arith::IntegerOverflowFlags::none);
    else if (auto shr = dyn_cast<arith::ShRSIOp>(op))
      shr.setIsExact(false);
    else if (auto shr = dyn_cast<arith::ShRUIOp>(op))
      shr.setIsExact(false);
  });
}

/// `x to tensor<..>` behind a to_tensor, up to its closing bracket, is new in 20.
static std::string withoutToTensorType(StringRef line) {
  size_t at = line.find(" to tensor<");
  if (at == StringRef::npos)
    return line.str();
  size_t depth = 0, end = at + StringRef(" to tensor").size();
  for (; end < line.size(); ++end) {
    if (line[end] == '<')
      ++depth;
    else if (line[end] == '>' && --depth == 0)
      break;
  }
  return (line.take_front(at) + line.drop_front(std::min(end + 1, line.size()))).str();
}

/// `bufferization.to_buffer %t : tensor<..> to memref<..>` was
/// `bufferization.to_memref %t : memref<..>`.
static std::string asToMemref(StringRef line) {
  auto [head, rest] = line.split("bufferization.to_buffer");
  size_t colon = rest.find(" : tensor<");
  size_t to = rest.find("> to memref<", colon);
  if (colon == StringRef::npos || to == StringRef::npos)
    return line.str();
  return (head + "bufferization.to_memref" + rest.take_front(colon) + " : " +
          rest.drop_front(to + StringRef("> to ").size()))
      .str();
}

/// The op's name, where a line opens with one result or none; else empty.
static StringRef opNameOf(StringRef line) {
  StringRef text = line.ltrim();
  if (text.starts_with("%")) {
    size_t equals = text.find(" = ");
    if (equals == StringRef::npos)
      return {};
    text = text.drop_front(equals + 3);
  }
  return text.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
}

static std::string spelledFor19(StringRef text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    StringRef name = opNameOf(line);
    if (name == "bufferization.to_tensor")
      result += withoutToTensorType(line);
    else if (name == "bufferization.to_buffer")
      result += asToMemref(line);
    else
      result += line;
    result += '\n';
    text = rest;
  }
  return result;
}

LogicalResult printForBisheng(ModuleOp module, const BishengOptions &options, std::string &text) {
  OwningOpRef<ModuleOp> copy(module.clone());
  PassManager pm(module.getContext());
  LegalizeForBishengOptions passOptions;
  passOptions.family = bishengFamilyOf(options.target) == BishengFamily::C220 ? "c220" : "a5";
  pm.addPass(createLegalizeForBisheng(passOptions));
  pm.addPass(createCSEPass()); // legalising repeats constants and fills
  if (failed(pm.run(*copy)))
    return failure();

  for (auto function : copy->getOps<func::FuncOp>())
    fillLocations(function);
  dropLocationRanges(*copy);
  dropNewFlags(*copy);
  std::string printed;
  llvm::raw_string_ostream os(printed);
  OpPrintingFlags flags;
  flags.enableDebugInfo(options.lineInfo, /*prettyForm=*/false);
  copy->print(os, flags);
  text = spelledFor19(os.str());
  return success();
}

} // namespace piton
