// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From an LLVM module to the bytes of a shared object: device library, O2, object
// code, in-process lld, and a check of the undefined symbols against the closed
// list, because a missing symbol would otherwise show up only when the kernel runs.
#include "compiler/Target/SimulatorCodegen.h"

#include "device/DeviceLibrary.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/VFABIDemangler.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

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

/// Names defined by the device library, read once.
const StringSet<> &deviceNames() {
  static const StringSet<> names = [] {
    StringSet<> result;
    LLVMContext context;
    auto module = parseBitcodeFile(deviceBitcode(), context);
    if (!module) {
      consumeError(module.takeError());
      return result;
    }
    for (Function &function : **module)
      if (!function.isDeclaration() && !function.hasLocalLinkage())
        result.insert(function.getName());
    return result;
  }();
  return names;
}

Error linkDeviceLibrary(Module &module) {
  bool needed = false;
  for (Function &function : module)
    needed |= function.isDeclaration() && deviceNames().contains(function.getName());
  if (!needed)
    return Error::success();
  auto library = getLazyBitcodeModule(deviceBitcode(), module.getContext());
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

std::unique_ptr<TargetMachine> makeTargetMachine(StringRef cpu, StringRef features,
                                                 std::string &error) {
  Triple triple("x86_64-unknown-linux-gnu");
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  TargetOptions options;
  options.MCOptions.AsmVerbose = false;
  return std::unique_ptr<TargetMachine>(target->createTargetMachine(
      triple, cpu, features, options, Reloc::PIC_, std::nullopt, CodeGenOptLevel::Default));
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

/// A folder of this call's own, removed with everything in it.
struct ScratchFolder {
  SmallString<128> path;
  ~ScratchFolder() {
    if (!path.empty())
      sys::fs::remove_directories(path);
  }
  Error create() {
    if (std::error_code code = sys::fs::createUniqueDirectory("piton-link", path))
      return fail("cannot create a temporary folder: " + code.message());
    return Error::success();
  }
  Expected<std::string> write(StringRef name, StringRef bytes) {
    SmallString<128> file = path;
    sys::path::append(file, name);
    std::error_code code;
    raw_fd_ostream stream(file, code);
    if (!code)
      stream << bytes;
    stream.close();
    if (code || stream.has_error()) {
      std::string reason = code ? code.message() : stream.error().message();
      stream.clear_error();
      return fail("cannot write " + file.str() + ": " + reason);
    }
    return std::string(file);
  }
};

Expected<std::string> linkObject(StringRef object) {
  ScratchFolder folder;
  if (Error error = folder.create())
    return error;
  auto file = folder.write("kernel.o", object);
  auto soft = folder.write(
      "soft.o", StringRef((const char *)piton::kDeviceSoftObject, piton::kDeviceSoftObjectSize));
  auto libm =
      folder.write("libm.so", StringRef((const char *)piton::kStubLibm, piton::kStubLibmSize));
  auto libmvec = folder.write(
      "libmvec.so", StringRef((const char *)piton::kStubLibmvec, piton::kStubLibmvecSize));
  for (auto *part : {&file, &soft, &libm, &libmvec})
    if (!*part) {
      std::string text = toString(part->takeError());
      for (auto *other : {&file, &soft, &libm, &libmvec})
        consumeError(other->takeError());
      return fail(text);
    }
  std::string output = (folder.path + "/kernel.so").str();
  std::string messages;
  raw_string_ostream stream(messages);
  // --start-lib: the soft helpers are taken only where the object calls them.
  std::vector<const char *> args = {"ld.lld",
                                    "-shared",
                                    "-o",
                                    output.c_str(),
                                    "--gc-sections",
                                    "-z",
                                    "now",
                                    "-z",
                                    "noexecstack",
                                    "--hash-style=gnu",
                                    "--exclude-libs=ALL",
                                    "--threads=1",
                                    "--no-dependent-libraries",
                                    file->c_str(),
                                    "--start-lib",
                                    soft->c_str(),
                                    "--end-lib",
                                    "--no-as-needed",
                                    libmvec->c_str(),
                                    libm->c_str()};
  static std::mutex linker; // lld keeps global state
  lld::Result result;
  {
    std::lock_guard lock(linker);
    // lld exits the process on a fatal error unless crash recovery is on. Its signal
    // handlers must not outlive the link: the runtime has its own for kernel faults.
    CrashRecoveryContext::Enable();
    result = lld::lldMain(args, stream, stream, {{lld::Gnu, &lld::elf::link}});
    CrashRecoveryContext::Disable();
  }
  if (result.retCode != 0)
    return fail("linking the kernel failed: " + StringRef(messages).trim());
  auto buffer = MemoryBuffer::getFile(output, false, false);
  if (!buffer)
    return fail("the linked kernel cannot be read: " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
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

std::string piton::hostCpuName() { return sys::getHostCPUName().str(); }

std::string piton::hostCpuFeatures() {
  std::string text;
  for (const auto &feature : sys::getHostCPUFeatures()) {
    if (!feature.second)
      continue;
    text += (text.empty() ? "+" : ",+") + feature.first().str();
  }
  return text;
}

Expected<piton::CodegenResult> piton::generateSharedObject(std::unique_ptr<Module> module,
                                                           const CodegenOptions &options) {
  StepTimer timer(options.times);
  initialiseTargetOnce();
  CodegenResult result;
  result.cpu = options.cpu.empty() ? hostCpuName() : options.cpu;
  result.features =
      options.features.empty() && options.cpu.empty() ? hostCpuFeatures() : options.features;
  std::string error;
  std::unique_ptr<TargetMachine> machine = makeTargetMachine(result.cpu, result.features, error);
  if (!machine)
    return fail(error);
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  if (Error failure = linkDeviceLibrary(*module))
    return failure;
  for (Function &function : *module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", result.cpu);
    function.addFnAttr("target-features", result.features);
    function.addFnAttr(Attribute::NoUnwind);
    if (function.getName() != options.entry)
      function.setLinkage(GlobalValue::InternalLinkage);
  }
  describeMathFunctions(*module, StringRef(result.features).contains("+avx512f"));
  std::string invalid;
  raw_string_ostream invalidStream(invalid);
  if (verifyModule(*module, &invalidStream))
    return fail("invalid LLVM IR was generated: " + invalid);
  timer.lap("device library");
  optimise(*module, *machine, options.loopVectorize);
  timer.lap("llvm optimisation");
  if (options.dump) {
    raw_string_ostream stream(*options.dump);
    stream << "// -----// llvm //----- //\n" << *module << "\n";
    std::unique_ptr<Module> copy = CloneModule(*module);
    SmallVector<char, 0> text;
    if (Error failure = emitFile(*copy, *machine, CodeGenFileType::AssemblyFile, text))
      return failure;
    stream << "// -----// asm //----- //\n" << StringRef(text.data(), text.size()) << "\n";
  }
  SmallVector<char, 0> object;
  if (Error failure = emitFile(*module, *machine, CodeGenFileType::ObjectFile, object))
    return failure;
  timer.lap("llvm code generation");
  Expected<std::string> elf = linkObject(StringRef(object.data(), object.size()));
  if (!elf)
    return elf.takeError();
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
