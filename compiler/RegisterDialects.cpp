// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of dialects, external models and passes, used by every tool.
#include "compiler/RegisterDialects.h"

#include "compiler/Config.h"
#include "compiler/Conversion/Passes.h"
#include "compiler/Dialect/Annotation/Annotation.h"
#include "compiler/Dialect/Ascend/Ascend.h"
#include "compiler/Dialect/HACC/HACC.h"
#include "compiler/Dialect/HFusion/HFusion.h"
#include "compiler/Dialect/HIVM/HIVM.h"
#include "compiler/Dialect/Scope/Scope.h"
#include "compiler/Dialect/Triton/Triton.h"
#include "compiler/Target/Bisheng.h"
#include "compiler/Transforms/Passes.h"

#if PITON_DISTRIBUTED
#include "compiler/Conversion/DistributedPasses.h"
#include "compiler/Dialect/Distributed/Distributed.h"
#endif

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/InlinerInterfaceImpl.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void piton::registerAllDialects(DialectRegistry &registry) {
  // Input: Triton IR and the upstream dialects it is mixed with.
  registry.insert<triton::TritonDialect, triton::ascend::AscendDialect, arith::ArithDialect,
                  math::MathDialect, scf::SCFDialect, cf::ControlFlowDialect, ub::UBDialect,
                  gpu::GPUDialect, LLVM::LLVMDialect>();
#if PITON_DISTRIBUTED
  registry.insert<triton::distributed::DistributedDialect>();
#endif
  // Hand-over and below.
  registry
      .insert<func::FuncDialect, linalg::LinalgDialect, tensor::TensorDialect,
              memref::MemRefDialect, bufferization::BufferizationDialect, affine::AffineDialect,
              vector::VectorDialect, index::IndexDialect, annotation::AnnotationDialect,
              hacc::HACCDialect, hfusion::HFusionDialect, hivm::HIVMDialect, scope::ScopeDialect>();

  LLVM::registerInlinerInterface(registry);
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(registry);
  cf::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  vector::registerBufferizableOpInterfaceExternalModels(registry);
  // Upper bounds of buffer sizes.
  affine::registerValueBoundsOpInterfaceExternalModels(registry);
  arith::registerValueBoundsOpInterfaceExternalModels(registry);
  memref::registerValueBoundsOpInterfaceExternalModels(registry);
  scf::registerValueBoundsOpInterfaceExternalModels(registry);
  tensor::registerValueBoundsOpInterfaceExternalModels(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

void piton::registerAllPasses() {
  registerPitonTransformsPasses();
  registerPitonConversionPasses();
#if PITON_DISTRIBUTED
  registerPitonDistributedPasses();
#endif
  // Of MLIR: its transforms (canonicalize, cse, inline, ...) and conversions, so that a
  // part of the pipeline can be named as text (piton-opt, stop and resume, reproducers).
  // The spelling without the final d names the same pass.
  PassPipelineRegistration<>(
      "triton-to-unstructure", "Alias of triton-to-unstructured",
      [](OpPassManager &pm) { pm.addPass(createTritonToUnstructuredPass()); });
  mlir::registerTransformsPasses();
  mlir::registerConversionPasses();
  mlir::bufferization::registerOneShotBufferizePass();
  registerPitonBishengPasses();
}
