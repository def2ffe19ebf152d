// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of contents of the compiler: every pass in the order it runs, with the
// reason for its place. The texts of the passes are in Conversion/Passes.td and
// Transforms/Passes.td; docs/reference is generated from them.
#include "compiler/Pipeline.h"

#include "compiler/Config.h"
#include "compiler/Conversion/Passes.h"
#include "compiler/Transforms/Passes.h"

#if PITON_DISTRIBUTED
#include "compiler/Conversion/DistributedPasses.h"
#endif

#include "mlir/Transforms/Passes.h"

using namespace mlir;

std::unique_ptr<Pass> piton::createMemorySafeCanonicalizerPass() {
  return createCanonicalizerPass(GreedyRewriteConfig(),
                                 {"(anonymous namespace)::ReinterpretCastOpConstantFolder"});
}

void piton::buildTtirPipeline(OpPassManager &pm, const PipelineOptions &) {
  // Structured control flow first: a helper of several blocks could not be inlined into
  // a loop, and no later pass has to know about branches.
  pm.addPass(createLiftControlFlowPass());
  // Helpers become part of the kernel, so that addresses and masks can be followed;
  // `noinline` ones stay calls. The inliner canonicalises on its way.
  pm.addPass(createInlinerPass());
  // Peepholes before the general clean-up, which would hide their shapes.
  pm.addPass(createTritonCombinePass());
  pm.addPass(createCanonicalizerPass());
  // Needs constants folded; makes small what the address analyses would walk through.
  pm.addPass(createTritonReorderBroadcastPass());
  pm.addPass(createCSEPass());
  // After CSE, so that one copy moves; before unrolling, so that none is repeated.
  pm.addPass(createTritonLicmPass());
  // Helpers are inlined by now: their bodies and unused declarations go.
  pm.addPass(createSymbolDCEPass());
  // Last: everything before it runs on the short form.
  pm.addPass(createTritonLoopUnrollPass());
}

void piton::buildTtAdapterPipeline(OpPassManager &pm, const PipelineOptions &options) {
#if PITON_DISTRIBUTED
  // Communication becomes calls of device functions before anything looks at addresses, so that
  // no other pass knows that there are several PEs.
  pm.addPass(createConvertTritonDistributedToHIVMPass());
#endif
  // Block pointers and descriptors become tensors of pointers and masks: one kind of access
  // from here on.
  pm.addPass(createRewriteTensorPointerPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // Loops that move pointers carry numbers, divisions become dimensions: the analyses of all
  // later passes see through both.
  TritonToStructuredPassOptions structured;
  structured.enableLinearize = options.enableLinearize;
  pm.addPass(createTritonToStructuredPass(structured));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // Masks that are no box, while their accesses are still in one piece.
  DiscreteMaskAccessConversionPassOptions discrete;
  discrete.maskForm = options.discreteMask;
  pm.addPass(createDiscreteMaskAccessConversionPass(discrete));
  // Hints become marks before the un-structuring of accesses, which reads them.
  pm.addPass(createTritonToAnnotationPass());
  // Whatever is no strided box by now is accessed lane by lane or row by row.
  pm.addPass(createTritonToUnstructuredPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // What the language extension adds, and the few ops with a form of their own on the NPU,
  // each to its dialect; after the accesses, whose analyses know Triton's ops only.
  pm.addPass(createTritonToHIVMPass());
  pm.addPass(createTritonToHFusionPass());
  pm.addPass(createTritonToLLVMPass());
  // The loops over lanes cut values out of tensors: compute the lane instead, and structure
  // what that lays open. Nothing is split any more: a mask that fell apart then would come too
  // late for the loops.
  structured.enableLinearize = false;
  pm.addPass(createBubbleUpOperationPass());
  pm.addPass(createTritonToStructuredPass(structured));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // Everything that is left of Triton, in one conversion: a half-lowered module would need
  // casts between pointers and memrefs on every border.
  TritonToLinalgOptions linalg;
  linalg.enableNd2nzOnVector = options.enableNd2nzOnVector;
  linalg.enableSelectAnalysis = options.enableSelectAnalysis;
  pm.addPass(createTritonToLinalg(linalg));
  // Each access computed its own bounds: most are the same.
  pm.addPass(createCSEPass());
}
