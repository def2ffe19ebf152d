// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From an LLVM module to the bytes of a shared object: device library, O2, object
// code, in-process lld, and a check of the undefined symbols against the closed
// list, because a missing symbol would otherwise show up only when the kernel runs.
#include "compiler/Target/SimulatorCodegen.h"

#include "compiler/Target/FatalErrors.h"
#include "compiler/Target/Link.h"
#include "device/DeviceLibrary.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/VFABIDemangler.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <array>
#include <cstdlib>
#include <mutex>

using namespace llvm;

namespace {

Error fail(const Twine &text) { return createStringError(inconvertibleErrorCode(), text); }

void initialiseTargetOnce() {
  static std::once_flag flag;
  std::call_once(flag, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
  });
}

MemoryBufferRef deviceBitcode() {
  return MemoryBufferRef(
      StringRef(reinterpret_cast<const char *>(piton::kDeviceBitcode), piton::kDeviceBitcodeSize),
      "piton device library");
}

MemoryBufferRef shmemBitcode(const piton::ShmemBitcode &library) {
  return MemoryBufferRef(StringRef(reinterpret_cast<const char *>(library.bytes), library.size),
                         "piton distributed device library");
}

/// Name and type of every function that a library defines.
StringMap<std::string> namesDefinedBy(MemoryBufferRef bitcode) {
  StringMap<std::string> result;
  LLVMContext context;
  auto module = getLazyBitcodeModule(bitcode, context);
  if (!module) {
    consumeError(module.takeError());
    return result;
  }
  for (Function &function : **module)
    if (!function.isDeclaration() && !function.hasLocalLinkage())
      raw_string_ostream(result[function.getName()]) << *function.getFunctionType();
  return result;
}

/// Names defined by the device library, read once.
const StringMap<std::string> &deviceNames() {
  static const StringMap<std::string> names = namesDefinedBy(deviceBitcode());
  return names;
}

/// Names of the distributed functions in one of their variants, read when that is first asked for.
const StringMap<std::string> &shmemNames(unsigned variant) {
  static std::array<StringMap<std::string>, 4> names;
  static std::array<std::once_flag, 4> read;
  std::call_once(read[variant], [=] {
    names[variant] = namesDefinedBy(shmemBitcode(piton::kShmemBitcode[variant]));
  });
  return names[variant];
}

/// The variant that defines a name: its suffix says the core in a kernel for both, otherwise the
/// kernel's only core decides.
unsigned shmemVariant(StringRef name, bool cubeOnly) {
  StringRef wanted = name.ends_with(".cube")     ? "mix_aic"
                     : name.ends_with(".vector") ? "mix_aiv"
                     : cubeOnly                  ? "aic"
                                                 : "aiv";
  unsigned index = 0;
  while (piton::kShmemBitcode[index].variant != wanted)
    ++index;
  return index;
}

Error linkBitcode(Module &module, MemoryBufferRef bitcode) {
  auto library = getLazyBitcodeModule(bitcode, module.getContext());
  if (!library)
    return library.takeError();
  (*library)->setDataLayout(module.getDataLayout());
  (*library)->setTargetTriple(module.getTargetTriple());
  auto internalise = [](Module &into, const StringSet<> &names) {
    for (const auto &name : names)
      if (GlobalValue *value = into.getNamedValue(name.getKey()); value && !value->isDeclaration())
        value->setLinkage(GlobalValue::InternalLinkage);
  };
  if (Linker::linkModules(module, std::move(*library), Linker::Flags::LinkOnlyNeeded, internalise))
    return fail("the device library does not link");
  return Error::success();
}

Error linkDeviceLibrary(Module &module, bool cubeOnly) {
  bool needed = false;
  std::array<bool, 4> variants{};
  for (Function &function : module) {
    if (!function.isDeclaration())
      continue;
    needed |= deviceNames().contains(function.getName());
    if (!function.getName().starts_with("_mlir_ciface_"))
      continue;
    unsigned variant = shmemVariant(function.getName(), cubeOnly);
    variants[variant] |= shmemNames(variant).contains(function.getName());
  }
  if (needed)
    if (Error failure = linkBitcode(module, deviceBitcode()))
      return failure;
  for (unsigned i = 0; i < variants.size(); ++i)
    if (variants[i])
      if (Error failure = linkBitcode(module, shmemBitcode(piton::kShmemBitcode[i])))
        return failure;
  return Error::success();
}

/// Device functions find their block through piton_block_context(). They are all part of the kernel
/// by now, whose caller knows the block: the entry's second argument.
Error bindBlockContext(Module &module, StringRef entryName) {
  Function *query = module.getFunction("piton_block_context");
  if (!query)
    return Error::success();
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager sccs;
  ModuleAnalysisManager modules;
  PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  AlwaysInlinerPass(/*InsertLifetime=*/true).run(module, modules);
  Function *entry = module.getFunction(entryName);
  Function *kernel = nullptr;
  unsigned position = 0;
  for (Instruction &instruction : instructions(*entry))
    if (auto *call = dyn_cast<CallInst>(&instruction); call && call->getCalledFunction())
      for (unsigned i = 0; i < call->arg_size(); ++i)
        if (call->getArgOperand(i) == entry->getArg(1)) {
          kernel = call->getCalledFunction();
          position = i;
        }
  for (User *user : make_early_inc_range(query->users())) {
    auto *call = dyn_cast<CallInst>(user);
    if (!call || call->getFunction() != kernel)
      return fail("a device function was not made part of the kernel");
    call->replaceAllUsesWith(kernel->getArg(position));
    call->eraseFromParent();
  }
  query->eraseFromParent();
  return Error::success();
}

/// libm, libmvec and the memory functions: what an image may leave undefined.
bool symbolIsAllowed(StringRef name) {
  if (name.starts_with("_ZGV"))
    return true;
  static const StringSet<> allowed = {
      "memcpy", "memset",    "memmove", "bcmp",      "memcmp",    "sin",       "cos",    "tan",
      "asin",   "acos",      "atan",    "atan2",     "sinh",      "cosh",      "tanh",   "asinh",
      "acosh",  "atanh",     "exp",     "exp2",      "exp10",     "expm1",     "log",    "log2",
      "log10",  "log1p",     "pow",     "cbrt",      "erf",       "erfc",      "lgamma", "tgamma",
      "fmod",   "remainder", "hypot",   "ldexp",     "scalbn",    "ilogb",     "logb",   "floor",
      "ceil",   "trunc",     "rint",    "nearbyint", "round",     "roundeven", "sqrt",   "fma",
      "fmin",   "fmax",      "fdim",    "copysign",  "nextafter", "j0",        "j1",     "y0",
      "y1",     "sincos",    "frexp",   "modf",      "lround",    "llround",   "lrint",  "llrint"};
  if (allowed.contains(name))
    return true;
  return name.ends_with("f") && allowed.contains(name.drop_back());
}

/// Functions of libm that libmvec has in vector form (glibc 2.35 and later).
bool hasVectorForm(StringRef name) {
  static const StringSet<> names = {"acos", "acosh", "asin",  "asinh", "atan",  "atan2", "atanh",
                                    "cbrt", "cos",   "cosh",  "erf",   "erfc",  "exp",   "exp10",
                                    "exp2", "expm1", "hypot", "log",   "log10", "log1p", "log2",
                                    "pow",  "sin",   "sinh",  "tan",   "tanh"};
  return names.contains(name);
}

/// Tells LLVM what libm functions do, and which vector forms its vectoriser may call.
void describeMathFunctions(Module &module, bool wide) {
  for (Function &function : module) {
    if (!function.isDeclaration() || function.isIntrinsic() || !symbolIsAllowed(function.getName()))
      continue;
    if (function.getName().starts_with("mem") || function.getName() == "bcmp")
      continue;
    function.setDoesNotAccessMemory();
    function.setDoesNotThrow();
    function.setWillReturn();
    StringRef base = function.getName();
    const bool isFloat = function.getReturnType()->isFloatTy();
    if (isFloat && base.ends_with("f") && !hasVectorForm(base))
      base = base.drop_back();
    if (!hasVectorForm(base) || function.arg_size() > 2)
      continue;
    std::string letters(function.arg_size(), 'v');
    std::string variants;
    for (auto [isa, bits] : {std::pair<char, unsigned>{'d', 256}, {'e', 512}}) {
      if (isa == 'e' && !wide)
        continue;
      unsigned lanes = bits / (isFloat ? 32 : 64);
      std::string vectorName =
          ("_ZGV" + Twine(isa) + "N" + Twine(lanes) + letters + "_" + function.getName()).str();
      variants += (variants.empty() ? "" : ",") + ("_ZGV_LLVM_N" + Twine(lanes) + letters + "_" +
                                                   function.getName() + "(" + vectorName + ")")
                                                      .str();
      auto *vectorType = FixedVectorType::get(function.getReturnType(), lanes);
      SmallVector<Type *> parameters(function.arg_size(), vectorType);
      auto callee =
          module.getOrInsertFunction(vectorName, FunctionType::get(vectorType, parameters, false));
      auto *declared = cast<Function>(callee.getCallee());
      declared->setDoesNotAccessMemory();
      declared->setDoesNotThrow();
      declared->setWillReturn();
      appendToCompilerUsed(module, declared);
    }
    for (User *user : function.users())
      if (auto *call = dyn_cast<CallInst>(user))
        call->addFnAttr(Attribute::get(module.getContext(), VFABI::MappingsAttrName, variants));
  }
}

constexpr StringLiteral kTriple = "x86_64-unknown-linux-gnu";

std::unique_ptr<TargetMachine> makeTargetMachine(const piton::CodegenCpu &cpu, std::string &error) {
  const Triple triple(kTriple);
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  TargetOptions options;
  options.MCOptions.AsmVerbose = false;
  return std::unique_ptr<TargetMachine>(
      target->createTargetMachine(triple, cpu.name, cpu.features, options, Reloc::PIC_,
                                  std::nullopt, CodeGenOptLevel::Default));
}

/// For a kernel of vector loops: what is left to do is to fold addresses and masks and to take
/// them out of the loops. A fraction of O2's time, which is most of a small kernel's compilation.
constexpr char kVectorKernelPasses[] =
    "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-mssa(loop-rotate,licm),loop(indvars,loop-idiom,loop-deletion),gvn,dse,"
    "instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm))";

/// True when nothing could be inlined: the kernel and its entry are all there is.
bool isKernelAlone(const Module &module) {
  return llvm::count_if(module, [](const Function &f) { return !f.isDeclaration(); }) <= 2;
}

void optimise(Module &module, TargetMachine &machine, bool loopVectorize) {
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = loopVectorize;
  tuning.SLPVectorization = false;
  tuning.LoopInterleaving = loopVectorize;
  // Vector loops are unrolled enough by the width of their steps.
  tuning.LoopUnrolling = loopVectorize;
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager sccs;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine, tuning);
  TargetLibraryInfoImpl library(machine.getTargetTriple(), VectorLibrary::LIBMVEC);
  functions.registerPass([&] { return TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  if (!loopVectorize && isKernelAlone(module)) {
    ModulePassManager passes;
    cantFail(builder.parsePassPipeline(passes, kVectorKernelPasses));
    passes.run(module, modules);
    return;
  }
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O2).run(module, modules);
}

Error emitFile(Module &module, TargetMachine &machine, CodeGenFileType type,
               SmallVectorImpl<char> &bytes) {
  raw_svector_ostream stream(bytes);
  legacy::PassManager manager;
  if (machine.addPassesToEmitFile(manager, stream, nullptr, type))
    return fail("this host's code generator cannot write the requested file type");
  manager.run(module);
  return Error::success();
}

Error checkUndefinedSymbols(const object::ELFObjectFileBase &elf) {
  std::string missing;
  for (const object::ELFSymbolRef symbol : elf.getDynamicSymbolIterators()) {
    auto flags = symbol.getFlags();
    auto name = symbol.getName();
    if (!flags || !name) {
      consumeError(flags.takeError());
      consumeError(name.takeError());
      continue;
    }
    if (!(*flags & object::SymbolRef::SF_Undefined) || name->empty() || symbolIsAllowed(*name))
      continue;
    missing += (missing.empty() ? "" : ", ") + name->str();
  }
  if (missing.empty())
    return Error::success();
  return fail("no function of this name exists on the device: " + missing);
}

void readLineTable(const object::ObjectFile &file, piton::CodegenResult &result) {
  std::unique_ptr<DWARFContext> dwarf = DWARFContext::create(file);
  StringMap<uint32_t> fileIds;
  for (const std::unique_ptr<DWARFUnit> &unit : dwarf->compile_units()) {
    const DWARFDebugLine::LineTable *table = dwarf->getLineTableForUnit(unit.get());
    if (!table)
      continue;
    for (const DWARFDebugLine::Row &row : table->Rows) {
      std::string name;
      if (!table->getFileNameByIndex(row.File, unit->getCompilationDir(),
                                     DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath, name))
        continue;
      auto [entry, isNew] = fileIds.try_emplace(name, result.files.size());
      if (isNew)
        result.files.push_back(name);
      piton::LineEntry line{row.Address.Address, entry->second, row.EndSequence ? 0 : row.Line};
      if (!result.lines.empty() && result.lines.back().address == line.address)
        result.lines.back() = line;
      else if (result.lines.empty() || result.lines.back().file != line.file ||
               result.lines.back().line != line.line)
        result.lines.push_back(line);
    }
  }
  llvm::stable_sort(result.lines, [](const piton::LineEntry &a, const piton::LineEntry &b) {
    return a.address < b.address;
  });
}

} // namespace

bool piton::deviceLibraryDefines(StringRef name) { return deviceNames().contains(name); }

std::optional<std::string> piton::shmemLibrarySignature(StringRef linkName) {
  const StringMap<std::string> &names = shmemNames(shmemVariant(linkName, /*cubeOnly=*/false));
  auto found = names.find(linkName);
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

//===-- the CPU ----------------------------------------------------------===//

/// Off whatever the CPU: Piton narrows to bf16 itself (the instructions flush denormals),
/// and with them LLVM takes bf16 for a legal type but cannot select its scalar moves.
static constexpr StringLiteral kNeverUsed = "-avx512bf16,-avxneconvert";

static std::string hostFeatures() {
  std::string text;
  for (const auto &feature : sys::getHostCPUFeatures())
    if (feature.second)
      text += (text.empty() ? "+" : ",+") + feature.first().str();
  return text;
}

Expected<piton::CodegenCpu> piton::resolveCpu(StringRef cpu, StringRef features) {
  initialiseTargetOnce();
  CodegenCpu result{cpu.str(), features.str()};
  if (cpu.empty() && features.empty())
    if (const char *name = std::getenv("PITON_HOST_CPU"))
      result.name = name;
  const bool thisMachine = result.name.empty() && features.empty();
  if (result.name.empty())
    result.name = sys::getHostCPUName().str();
  if (thisMachine)
    result.features = hostFeatures();
  result.features += (result.features.empty() ? "" : ",") + kNeverUsed.str();
  const Triple triple(kTriple);
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return fail(error);
  std::unique_ptr<MCSubtargetInfo> known(target->createMCSubtargetInfo(triple, "", ""));
  if (!known->isCPUStringValid(result.name))
    return fail("no CPU is called '" + result.name +
                "' (clang-22 --target=x86_64 --print-supported-cpus lists them)");
  std::unique_ptr<MCSubtargetInfo> info(
      target->createMCSubtargetInfo(triple, result.name, result.features));
  if (!info->checkFeatures("+avx2,+fma,+f16c"))
    return fail("CPU '" + result.name +
                "' has no AVX2, FMA and F16C, which kernels need; the least is x86-64-v3");
  result.avx512 = info->checkFeatures("+avx512f,+avx512bw,+avx512vl,+avx512dq");
  // A name says nothing to the loader, which must not start code that this machine cannot
  // run: what the name stands for is written out.
  if (!thisMachine) {
    std::string enabled;
    for (const SubtargetFeatureKV &feature : info->getEnabledProcessorFeatures())
      enabled += ("+" + Twine(feature.Key) + ",").str();
    result.features = enabled + kNeverUsed.str();
  }
  return result;
}

//===-- the whole way ----------------------------------------------------===//

namespace {

/// Errors that LLVM reports for the module rather than by giving up. Without a handler of
/// ours it would end the process.
void collectError(const DiagnosticInfo *info, void *text) {
  if (info->getSeverity() != DS_Error)
    return;
  raw_string_ostream stream(*static_cast<std::string *>(text));
  DiagnosticPrinterRawOStream printer(stream);
  stream << (static_cast<std::string *>(text)->empty() ? "" : "; ");
  info->print(printer);
}

/// A module on its way to object code. The context must outlive the module.
struct Job {
  std::unique_ptr<LLVMContext> context;
  std::unique_ptr<Module> module;
  std::unique_ptr<TargetMachine> machine;

  /// Leaves everything where it is: its state is unknown after a fatal error.
  void abandon() {
    (void)machine.release();
    (void)module.release();
    (void)context.release();
  }
};

/// The module with the device library in it, ready to be optimised.
Error prepareModule(Module &module, const piton::CodegenOptions &options) {
  if (Error failure = linkDeviceLibrary(module, options.cubeOnly))
    return failure;
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", options.cpu.name);
    function.addFnAttr("target-features", options.cpu.features);
    function.addFnAttr(Attribute::NoUnwind);
    if (function.getName() != options.entry)
      function.setLinkage(GlobalValue::InternalLinkage);
  }
  if (Error failure = bindBlockContext(module, options.entry))
    return failure;
  describeMathFunctions(module, options.cpu.avx512);
  std::string invalid;
  raw_string_ostream invalidStream(invalid);
  if (verifyModule(module, &invalidStream))
    return fail("invalid LLVM IR was generated: " + invalid);
  return Error::success();
}

Error dumpModule(Module &module, TargetMachine &machine, std::string &dump) {
  raw_string_ostream stream(dump);
  stream << "// -----// llvm //----- //\n" << module << "\n";
  std::unique_ptr<Module> copy = CloneModule(module);
  SmallVector<char, 0> text;
  if (Error failure = emitFile(*copy, machine, CodeGenFileType::AssemblyFile, text))
    return failure;
  stream << "// -----// asm //----- //\n" << StringRef(text.data(), text.size()) << "\n";
  return Error::success();
}

/// Optimises the module and generates its object code.
Error compileModule(Job &job, const piton::CodegenOptions &options, piton::StepTimer &timer,
                    SmallVectorImpl<char> &object) {
  optimise(*job.module, *job.machine, options.loopVectorize);
  timer.lap("llvm optimisation");
  if (options.dump)
    if (Error failure = dumpModule(*job.module, *job.machine, *options.dump))
      return failure;
  if (Error failure = emitFile(*job.module, *job.machine, CodeGenFileType::ObjectFile, object))
    return failure;
  timer.lap("llvm code generation");
  return Error::success();
}

/// compileModule with everything that LLVM can say made an Error.
Error compileGuarded(Job &job, const piton::CodegenOptions &options, piton::StepTimer &timer,
                     SmallVectorImpl<char> &object) {
  std::string said, reason;
  job.context->setDiagnosticHandlerCallBack(collectError, &said);
  Error failure = Error::success();
  bool finished = piton::runCatchingFatalErrors(
      [&] { failure = joinErrors(std::move(failure), compileModule(job, options, timer, object)); },
      reason);
  if (!finished) {
    job.abandon();
    consumeError(std::move(failure));
    return fail("LLVM cannot generate code for this kernel on CPU '" + options.cpu.name +
                "': " + StringRef(reason).trim() + "; please report it with the kernel");
  }
  job.context->setDiagnosticHandlerCallBack(nullptr);
  if (!said.empty())
    return joinErrors(std::move(failure), fail("LLVM refuses this kernel: " + said));
  return failure;
}

} // namespace

Expected<piton::CodegenResult> piton::generateSharedObject(std::unique_ptr<LLVMContext> context,
                                                           std::unique_ptr<Module> module,
                                                           const CodegenOptions &options) {
  StepTimer timer(options.times);
  std::string error;
  Job job{std::move(context), std::move(module), makeTargetMachine(options.cpu, error)};
  if (!job.machine)
    return fail(error);
  job.module->setTargetTriple(job.machine->getTargetTriple());
  job.module->setDataLayout(job.machine->createDataLayout());
  if (Error failure = prepareModule(*job.module, options))
    return failure;
  timer.lap("device library");
  SmallVector<char, 0> object;
  if (Error failure = compileGuarded(job, options, timer, object))
    return failure;
  Expected<std::string> elf = piton::linkObject(StringRef(object.data(), object.size()));
  if (!elf)
    return elf.takeError();
  CodegenResult result;
  result.elf = std::move(*elf);
  timer.lap("link");
  auto binary =
      object::ObjectFile::createELFObjectFile(MemoryBufferRef(result.elf, "kernel image"));
  if (!binary)
    return binary.takeError();
  if (Error failure = checkUndefinedSymbols(cast<object::ELFObjectFileBase>(**binary)))
    return failure;
  readLineTable(**binary, result);
  timer.lap("line table");
  return result;
}
