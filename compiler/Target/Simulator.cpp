// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The simulator back end as one list of passes, then LLVM IR, object code and the image.
#include "compiler/Target/Simulator.h"

#include "compiler/Pipeline.h"

#include "abi/KernelImage.h"
#include "compiler/Target/Simulator/Utils.h"
#include "compiler/Target/SimulatorCodegen.h"
#include "compiler/Transforms/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace piton;
using namespace piton::simulator;

namespace {

const char *const kNarrowFloats[] = {"bf16", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ"};

/// Tensors to buffers with static places.
void buildBufferPipeline(OpPassManager &pm, bool avx512) {
  pm.addPass(createSimPrepare());
  pm.addNestedPass<func::FuncOp>(createMemorySafeCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createSimFuseElementwise());
  pm.addNestedPass<func::FuncOp>(createMemorySafeCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
  // Directly before bufferization: CSE would share again what this pass keeps apart.
  pm.addNestedPass<func::FuncOp>(createSimTieLoopTensors());
  pm.addPass(bufferization::createOneShotBufferizePass());
  pm.addNestedPass<func::FuncOp>(createMemorySafeCanonicalizerPass());
  SimVectorizeOptions vectorize;
  vectorize.maskNarrow = avx512;
  vectorize.registerBytes = avx512 ? 64 : 32;
  pm.addNestedPass<func::FuncOp>(createSimVectorize(vectorize));
  SimLowerBuffersOptions lower;
  lower.maskNarrow = avx512;
  pm.addNestedPass<func::FuncOp>(createSimLowerBuffers(lower));
  pm.addNestedPass<func::FuncOp>(createSimAssignArena());
}

/// Loops of scalars and vectors that convert to LLVM op by op.
void buildLoopPipeline(OpPassManager &pm, bool avx512) {
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addNestedPass<func::FuncOp>(memref::createFoldMemRefAliasOpsPass());
  pm.addNestedPass<func::FuncOp>(createMemorySafeCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  for (const char *name : kNarrowFloats)
    emulate.sourceTypeStrs.push_back(name);
  emulate.targetTypeStr = "f32";
  pm.addPass(math::createMathExtendToSupportedTypes());
  pm.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  SimLowerScalarsOptions scalars;
  scalars.avx512 = avx512;
  pm.addNestedPass<func::FuncOp>(createSimLowerScalars(scalars));
  pm.addPass(createSimMakeEntry());
}

void buildLlvmPipeline(OpPassManager &pm) {
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void buildDebugPipeline(OpPassManager &pm) {
  LLVM::DIScopeForLLVMFuncOpPassOptions options;
  options.emissionKind = LLVM::DIEmissionKind::LineTablesOnly;
  pm.addPass(LLVM::createDIScopeForLLVMFuncOpPass(options));
}

/// Innermost loops without vectors: only they need LLVM's vectoriser, which costs more
/// time than all other passes together.
bool hasScalarLoops(ModuleOp module) {
  bool found = false;
  module.walk([&](scf::ForOp loop) {
    bool isInner = true, hasVector = false, touchesMemory = false;
    loop.getBody()->walk([&](Operation *op) {
      isInner &= !isa<LoopLikeOpInterface>(op);
      hasVector |= llvm::any_of(op->getOperandTypes(), llvm::IsaPred<VectorType>) ||
                   llvm::any_of(op->getResultTypes(), llvm::IsaPred<VectorType>);
      touchesMemory |= isa<memref::LoadOp, memref::StoreOp>(op);
    });
    found |= isInner && !hasVector && touchesMemory;
  });
  return found;
}

/// The innermost position in a file; a null location when there is none.
FileLineColRange filePosition(Location loc) {
  FileLineColRange result;
  loc->walk([&](Location part) {
    result = dyn_cast<FileLineColRange>(part);
    return result ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result;
}

/// Locations as plain file positions: the pass that makes debug scopes out of them knows
/// no others (a call site of a named location crashes it).
void flattenLocations(ModuleOp module) {
  module.walk([&](Operation *op) {
    Location loc = op->getLoc();
    FileLineColRange position = filePosition(loc);
    Operation *parent = op->getParentOp();
    if (position)
      op->setLoc(FileLineColLoc::get(position.getFilename(), position.getStartLine(),
                                     position.getStartColumn()));
    else if (parent)
      op->setLoc(UnknownLoc::get(op->getContext()));
  });
}

void dumpModule(ModuleOp module, const SimulatorOptions &options, StringRef stage) {
  if (!options.dump)
    return;
  llvm::raw_string_ostream stream(*options.dump);
  stream << "// -----// " << stage << " //----- //\n" << module << "\n";
}

/// Marks of arguments that LLVM does not know: the translation would print the whole function
/// with a warning for each.
void dropArgumentMarks(ModuleOp module) {
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i) {
      SmallVector<NamedAttribute> known;
      if (DictionaryAttr marks = function.getArgAttrDict(i))
        for (NamedAttribute attribute : marks)
          if (attribute.getName().strref().starts_with("llvm."))
            known.push_back(attribute);
      function.setArgAttrs(i, known);
    }
}

/// The name that the front end gave a value by its location.
std::string nameFromLocation(Location loc) {
  std::string name;
  loc->walk([&](Location part) {
    auto named = dyn_cast<NameLoc>(part);
    if (!named)
      return WalkResult::advance();
    name = named.getName().str();
    return WalkResult::interrupt();
  });
  return name;
}

/// What the kernel function says about the image, before its conversion to LLVM.
LogicalResult fillMetadata(ModuleOp module, KernelMetadata &metadata) {
  func::FuncOp kernel = findKernel(module);
  metadata.name = kernel.getSymName().str();
  auto integer = [&](StringRef name) -> int64_t {
    auto attribute = kernel->getAttrOfType<IntegerAttr>(name);
    return attribute ? attribute.getInt() : 0;
  };
  if (auto mix = kernel->getAttrOfType<StringAttr>("mix_mode"))
    metadata.mixMode = mix.str();
  if (auto parallel = kernel->getAttrOfType<StringAttr>("parallel_mode"))
    metadata.parallelMode = parallel.str();
  metadata.arenaBytes = integer(kArenaBytesAttr);
  metadata.stackBytes = integer(kStackBytesAttr) + 16384; // calls, spills, libm
  metadata.argBytes = integer("piton.arg_bytes");
  metadata.lockWords = integer("piton.lock_words");
  metadata.sharedBytes = integer(kSharedBytesAttr);
  metadata.canBlock = kernel->hasAttr(kCanBlockAttr);
  metadata.distributed = kernel->hasAttr(kDistributedAttr);
  auto layout = kernel->getAttrOfType<ArrayAttr>("piton.arguments");
  for (size_t i = 0; i + 2 < layout.size(); i += 3) {
    unsigned index = cast<IntegerAttr>(layout[i]).getInt();
    Type type = cast<TypeAttr>(layout[i + 2]).getValue();
    KernelArgument argument;
    argument.offset = cast<IntegerAttr>(layout[i + 1]).getInt();
    argument.type = *abiElementType(type);
    if (auto memref = dyn_cast<MemRefType>(type))
      argument.pointee = abiElementType(memref.getElementType()).value_or(ElementType::I8);
    if (auto kind = kernel.getArgAttrOfType<IntegerAttr>(index, "tt.tensor_kind"))
      argument.tensorKind = kind.getInt();
    for (StringRef key : {"tt.name", "piton.name"})
      if (auto name = kernel.getArgAttrOfType<StringAttr>(index, key))
        argument.name = name.str();
    if (argument.name.empty())
      argument.name = nameFromLocation(kernel.getArgument(index).getLoc());
    metadata.arguments.push_back(std::move(argument));
  }
  return success();
}

/// Where the kernel begins, for errors about the whole of it.
Location kernelLocation(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isDeclaration())
      return function.getLoc();
  return module.getLoc();
}

} // namespace

LogicalResult piton::emitSimulatorImage(ModuleOp module, const SimulatorOptions &options,
                                        std::string &image) {
  MLIRContext *context = module.getContext();
  StepTimer timer(options.times);
  KernelMetadata metadata;
  metadata.target = options.target;
  llvm::Expected<CodegenCpu> cpu = resolveCpu(options.hostCpu, options.hostFeatures);
  const Location where = kernelLocation(module);
  if (!cpu)
    return emitError(where, llvm::toString(cpu.takeError()));
  {
    PassManager pm(context);
    buildBufferPipeline(pm, cpu->avx512);
    if (failed(pm.run(module)))
      return failure();
  }
  timer.lap("buffers");
  dumpModule(module, options, "bufferized");
  {
    PassManager pm(context);
    buildLoopPipeline(pm, cpu->avx512);
    if (failed(pm.run(module)) || failed(fillMetadata(module, metadata)))
      return failure();
  }
  dropArgumentMarks(module);
  const bool loopVectorize = hasScalarLoops(module);
  timer.lap("loops");
  dumpModule(module, options, "loops");
  {
    PassManager pm(context);
    buildLlvmPipeline(pm);
    if (failed(pm.run(module)))
      return failure();
  }
  if (options.lineInfo) {
    flattenLocations(module);
    PassManager pm(context);
    buildDebugPipeline(pm);
    if (failed(pm.run(module)))
      return failure();
  }
  timer.lap("llvm dialect");
  registerBuiltinDialectTranslation(*context);
  registerLLVMDialectTranslation(*context);
  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, *llvmContext, "kernel");
  if (!llvmModule)
    return module.emitError("the kernel cannot be translated to LLVM IR");
  timer.lap("llvm ir");
  CodegenOptions codegen;
  codegen.times = options.times;
  codegen.entry = kEntryPrefix + metadata.name;
  codegen.cpu = *cpu;
  codegen.loopVectorize = loopVectorize;
  codegen.cubeOnly = metadata.mixMode == "aic";
  codegen.dump = options.dump;
  llvm::Expected<CodegenResult> result =
      generateSharedObject(std::move(llvmContext), std::move(llvmModule), codegen);
  if (!result)
    return emitError(where, llvm::toString(result.takeError()));
  metadata.hostCpu = cpu->name;
  metadata.hostFeatures = cpu->features;
  metadata.files = std::move(result->files);
  metadata.lines = std::move(result->lines);
  image = writeKernelImage(metadata, result->elf);
  return success();
}
