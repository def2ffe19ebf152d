// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches a kernel image with .npy arrays and scalars as arguments, without Python or LLVM. Triton
// IR is compiled first, by piton-compile beside this program. With -n it is a job of several PEs.

#include "piton/shmem.h"
#include "runtime/Launch.h"
#include "tools/Job.h"
#include "tools/Npy.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;
using namespace piton;

namespace {

constexpr char kUsage[] =
    R"(usage: piton-run [-n N] KERNEL --grid X[,Y[,Z]] [--arg ARG]... [options]
       piton-run -n N -- PROGRAM [WORD]...

KERNEL is a kernel image (.npubin), or Triton IR, which piton-compile then compiles.

ARG, one for each argument of the kernel and in their order, is one of
  FILE.npy           an array
  zeros:TYPE:SHAPE   an array of zeros, e.g. zeros:f32:1024 or zeros:bf16:64x128
  TYPE:VALUE         a scalar, e.g. i32:777, f32:0.5, i1:true
  null               a null pointer
TYPE is i1, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32 or f64. Arrays of bf16 are
files of u2 or V2, those of 8-bit floats files of u1 or V1.

With -n N the kernel runs on N processing elements, each a process with its arrays in the symmetric
heap, with a barrier around every launch; {rank} in a file name is the PE's number. The
second form runs any program as N processes; it finds RANK, WORLD_SIZE and PITON_SHMEM_URL in its
environment. When a PE fails, all end.

  -n N               number of processing elements, 1 to 1024
  --heap BYTES       symmetric heap of each PE (1 GiB; memory is spent on what is used)
  --engine NAME      mte, sdma, udma or roce
  --out DIR          write every array that is not a pure input to DIR/<argument>.npy
  --repeat N         launch N times and print the median time
  --info             print what the image is and exit
  --help             print this
)";

/// For the processes of a job: where the image is.
constexpr char kImageVariable[] = "PITON_RUN_IMAGE";

struct TypeName {
  const char *name;
  piton_type_t type;
  const char *npy; ///< NumPy's name of the type; raw bytes where it has none
  uint32_t bytes;
};
constexpr TypeName kTypes[] = {
    {"i1", PITON_TYPE_I1, "b1", 1},
    {"i8", PITON_TYPE_I8, "i1", 1},
    {"i16", PITON_TYPE_I16, "i2", 2},
    {"i32", PITON_TYPE_I32, "i4", 4},
    {"i64", PITON_TYPE_I64, "i8", 8},
    {"u8", PITON_TYPE_U8, "u1", 1},
    {"u16", PITON_TYPE_U16, "u2", 2},
    {"u32", PITON_TYPE_U32, "u4", 4},
    {"u64", PITON_TYPE_U64, "u8", 8},
    {"f16", PITON_TYPE_F16, "f2", 2},
    {"bf16", PITON_TYPE_BF16, "V2", 2},
    {"f32", PITON_TYPE_F32, "f4", 4},
    {"f64", PITON_TYPE_F64, "f8", 8},
    {"f8e4m3fn", PITON_TYPE_F8E4M3FN, "V1", 1},
    {"f8e5m2", PITON_TYPE_F8E5M2, "V1", 1},
    {"f8e4m3fnuz", PITON_TYPE_F8E4M3FNUZ, "V1", 1},
    {"f8e5m2fnuz", PITON_TYPE_F8E5M2FNUZ, "V1", 1},
    {"pointer", PITON_TYPE_POINTER, "u8", 8},
};

const TypeName *typeNamed(std::string_view name) {
  for (const TypeName &t : kTypes)
    if (t.name == name)
      return &t;
  return nullptr;
}

const TypeName &nameOf(piton_type_t type) {
  for (const TypeName &t : kTypes)
    if (t.type == type)
      return t;
  return kTypes[0];
}

int thisPe = -1; ///< in the processes of a job

[[noreturn]] void die(const std::string &message) {
  std::string where = thisPe < 0 ? "" : "PE " + std::to_string(thisPe) + ": ";
  std::fprintf(stderr, "piton-run: error: %s%s\n", where.c_str(), message.c_str());
  std::exit(1);
}

void require(piton_status_t status) {
  if (status != PITON_OK)
    die(piton_last_error());
}

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || fs::is_directory(path))
    die("cannot read '" + path + "': " + std::strerror(errno ? errno : EISDIR));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

bool parseUnsigned(std::string_view text, uint64_t &out) {
  if (text.empty() || text.size() > 20)
    return false;
  out = 0;
  for (char c : text) {
    if (c < '0' || c > '9' || __builtin_mul_overflow(out, uint64_t(10), &out) ||
        __builtin_add_overflow(out, static_cast<uint64_t>(c - '0'), &out))
      return false;
  }
  return true;
}

/// Splits at `separator` and parses every part; false if one is no number.
bool parseList(std::string_view text, char separator, std::vector<uint64_t> &out) {
  for (;;) {
    size_t end = text.find(separator);
    if (!parseUnsigned(text.substr(0, end), out.emplace_back()))
      return false;
    if (end == std::string_view::npos)
      return true;
    text.remove_prefix(end + 1);
  }
}

//===-- Arguments ---------------------------------------------------------------------------===//

/// An array in device memory.
struct Array {
  size_t index; ///< of the kernel's argument
  NpyHeader header;
  void *memory = nullptr;
};

/// Sets the kernel's arguments from the command line. Without a device they are only checked, and
/// counted in arrayBytes.
class ArgumentSetter {
public:
  ArgumentSetter(const KernelHandle &kernel, piton_device_t *device, bool symmetric)
      : kernel(kernel), device(device), block(kernel), symmetric(symmetric) {}

  void set(size_t index, const std::string &text) {
    where = "--arg " + text + ", argument " + std::to_string(index);
    const piton_argument_t &argument = kernel.arguments[index];
    if (*argument.name)
      where += std::string(" ('") + argument.name + "')";
    if (text == "null") {
      if (argument.type != PITON_TYPE_POINTER)
        die(where + ": the kernel takes " + nameOf(argument.type).name + " here, not a pointer");
      block.setPointer(index, nullptr);
    } else if (text.starts_with("zeros:")) {
      setZeros(index, text.substr(6));
    } else if (size_t colon = text.find(':');
               colon != std::string::npos && typeNamed(text.substr(0, colon))) {
      setScalar(index, *typeNamed(text.substr(0, colon)), text.substr(colon + 1));
    } else {
      setFile(index, text);
    }
  }

  const KernelHandle &kernel;
  piton_device_t *const device;
  ArgumentBlock block;
  const bool symmetric; ///< arrays lie in the symmetric heap
  std::vector<Array> arrays;
  uint64_t arrayBytes = 0; ///< in the symmetric heap, whose blocks have multiples of 64

private:
  void setZeros(size_t index, const std::string &text) {
    size_t colon = text.find(':');
    const TypeName *type = typeNamed(text.substr(0, colon));
    if (!type || colon == std::string::npos)
      die(where + ": expected zeros:TYPE:SHAPE");
    NpyHeader header;
    header.type = type->npy;
    uint64_t total = type->bytes;
    bool good = parseList(std::string_view(text).substr(colon + 1), 'x', header.shape);
    for (uint64_t size : header.shape)
      good = good && !__builtin_mul_overflow(total, size, &total);
    if (!good)
      die(where + ": '" + text.substr(colon + 1) + "' is no shape such as 1024 or 64x128");
    addArray(index, std::move(header), {});
  }

  void setFile(size_t index, const std::string &path) {
    std::string file = readFile(path), error;
    NpyHeader header;
    std::string_view data;
    if (!readNpy(file, header, data, error))
      die(where + ": cannot use the file, " + error);
    addArray(index, std::move(header), data);
  }

  void addArray(size_t index, NpyHeader header, std::string_view data) {
    const piton_argument_t &argument = kernel.arguments[index];
    if (argument.type != PITON_TYPE_POINTER)
      die(where + ": the kernel takes a scalar of type " + nameOf(argument.type).name +
          " here, not an array");
    const TypeName &pointee = nameOf(argument.pointee);
    if (header.elementBytes() != pointee.bytes)
      die(where + ": the array's elements ('" + header.type + "') have " +
          std::to_string(header.elementBytes()) + " bytes, the kernel's (" + pointee.name + ") " +
          std::to_string(pointee.bytes));
    Array array{index, std::move(header)};
    uint64_t bytes = array.header.bytes();
    arrayBytes += (bytes + 63) & ~uint64_t(63);
    if (!device)
      return;
    if (symmetric && bytes && !(array.memory = aclshmem_malloc(bytes)))
      die(where + ": " + piton_last_error());
    if (!symmetric)
      require(piton_memory_allocate(device, bytes, &array.memory));
    if (data.empty())
      require(piton_memory_fill(array.memory, 0, bytes, nullptr));
    else
      require(piton_memory_copy(array.memory, data.data(), bytes, nullptr));
    block.setPointer(index, array.memory);
    arrays.push_back(std::move(array));
  }

  void setScalar(size_t index, const TypeName &type, const std::string &text) {
    const piton_argument_t &argument = kernel.arguments[index];
    if (argument.type != type.type)
      die(where + ": the kernel takes " + nameOf(argument.type).name + " here");
    char *end = nullptr;
    errno = 0;
    if (type.npy[0] == 'f' || type.npy[0] == 'V') {
      double value = std::strtod(text.c_str(), &end);
      if (text.empty() || *end)
        die(where + ": '" + text + "' is no number");
      block.setFloat(index, value);
      return;
    }
    if (type.type == PITON_TYPE_I1 && (text == "true" || text == "false")) {
      block.setInteger(index, text == "true");
      return;
    }
    bool isUnsigned = type.npy[0] != 'i';
    int64_t value = isUnsigned ? static_cast<int64_t>(std::strtoull(text.c_str(), &end, 0))
                               : std::strtoll(text.c_str(), &end, 0);
    if (text.empty() || *end)
      die(where + ": '" + text + "' is no integer");
    unsigned bits = type.type == PITON_TYPE_I1 ? 1 : type.bytes * 8;
    bool fits = errno == 0 && !(isUnsigned && text[0] == '-');
    if (bits < 64 && isUnsigned)
      fits = fits && static_cast<uint64_t>(value) >> bits == 0;
    else if (bits < 64)
      fits = fits && value >= -(int64_t(1) << (bits - 1)) && value < int64_t(1) << (bits - 1);
    if (!fits)
      die(where + ": " + text + " does not fit into " + type.name);
    block.setInteger(index, value);
  }

  std::string where; ///< for messages
};

void writeArray(const fs::path &folder, const KernelHandle &kernel, const Array &array) {
  const piton_argument_t &argument = kernel.arguments[array.index];
  std::string name =
      *argument.name ? std::string(argument.name) : "arg" + std::to_string(array.index);
  std::replace(name.begin(), name.end(), '/', '_');
  fs::path path = folder / (name + ".npy");
  std::ofstream file(path, std::ios::binary);
  std::string preamble = npyPreamble(array.header);
  file.write(preamble.data(), static_cast<std::streamsize>(preamble.size()));
  file.write(static_cast<const char *>(array.memory),
             static_cast<std::streamsize>(array.header.bytes()));
  file.close();
  if (!file)
    die("cannot write '" + path.string() + "': " + std::strerror(errno));
}

//===-- Kernel ------------------------------------------------------------------------------===//

/// Runs piton-compile on `path` and returns the image.
std::string compile(const std::string &path) {
  std::error_code ignored;
  fs::path compiler = fs::read_symlink("/proc/self/exe", ignored).parent_path() / "piton-compile";
  std::string program = fs::exists(compiler) ? compiler.string() : "piton-compile";
  std::string output = (fs::temp_directory_path() / "piton-run-XXXXXX").string();
  int fd = mkstemp(output.data());
  if (fd < 0)
    die("cannot make a temporary file '" + output + "': " + std::strerror(errno));
  close(fd);
  std::vector<std::string> words = {program, path, "-o", output};
  if (const char *soc = std::getenv("TRITON_ASCEND_ARCH"); soc && *soc)
    words.push_back(std::string("--target=") + soc);
  std::vector<char *> argv;
  argv.reserve(words.size() + 1);
  for (std::string &word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  int failed = posix_spawnp(&child, program.c_str(), nullptr, nullptr, argv.data(), environ);
  int status = 0;
  if (!failed)
    waitpid(child, &status, 0);
  std::string image = failed || status ? std::string() : readFile(output);
  unlink(output.c_str());
  if (failed)
    die("'" + path + "' is no kernel image, and piton-compile, which could make one, cannot run: " +
        std::strerror(failed));
  if (status)
    die("piton-compile could not compile '" + path + "'");
  return image;
}

bool looksLikeText(const std::string &bytes) {
  return std::none_of(bytes.begin(), bytes.begin() + std::min<size_t>(bytes.size(), 512),
                      [](char c) { return c == '\0'; });
}

void printInfo(const KernelHandle &kernel) {
  const piton_kernel_properties_t &p = kernel.properties;
  std::printf("kernel %s\ntarget %s, mix mode %s%s%s\nlocal memory of a block %llu bytes\n", p.name,
              p.target, p.mix_mode, p.can_block ? ", blocks may wait for each other" : "",
              p.distributed ? ", distributed" : "", static_cast<unsigned long long>(p.local_bytes));
  static const char *const kinds[] = {"", " (input)", " (output)", " (input and output)"};
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const piton_argument_t &a = kernel.arguments[i];
    bool pointer = a.type == PITON_TYPE_POINTER;
    std::printf("argument %zu %s: %s%s%s\n", i, a.name, pointer ? "pointer to " : "",
                nameOf(pointer ? a.pointee : a.type).name, pointer ? kinds[a.tensor_kind + 1] : "");
  }
}

struct Options {
  std::string kernel, out, engine = "mte";
  std::vector<std::string> program; ///< in place of a kernel
  uint64_t pes = 0, heapBytes = uint64_t(1) << 30;
  uint32_t grid[3] = {0, 1, 1};
  bool haveGrid = false, info = false;
  uint64_t repeat = 1;
  std::vector<std::string> arguments;
};

void parseGrid(const std::string &text, Options &options) {
  std::vector<uint64_t> sizes;
  bool good = parseList(text, ',', sizes) && sizes.size() <= 3;
  for (size_t d = 0; good && d < sizes.size(); ++d) {
    good = sizes[d] <= UINT32_MAX;
    options.grid[d] = static_cast<uint32_t>(sizes[d]);
  }
  if (!good)
    die("--grid " + text + ": expected one to three numbers, X[,Y[,Z]]");
  options.haveGrid = true;
}

Options parseOptions(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    std::string value;
    bool inlined = false;
    if (size_t equals = word.find('='); word.starts_with("--") && equals != std::string::npos) {
      value = word.substr(equals + 1);
      word.resize(equals);
      inlined = true;
    }
    auto take = [&]() -> const std::string & {
      if (!inlined) {
        if (i + 1 >= argc)
          die(word + " needs a value");
        value = argv[++i];
      }
      return value;
    };
    if (word == "--grid") {
      parseGrid(take(), options);
    } else if (word == "-n") {
      if (!parseUnsigned(take(), options.pes) || options.pes == 0 || options.pes > 1024)
        die("-n " + value + ": expected a number from 1 to 1024");
    } else if (word == "--heap") {
      if (!parseUnsigned(take(), options.heapBytes) || options.heapBytes == 0 ||
          options.heapBytes > ACLSHMEM_MAX_LOCAL_SIZE)
        die("--heap " + value + ": expected a number of bytes, at most 40 GiB");
    } else if (word == "--engine") {
      options.engine = take();
    } else if (word == "--") {
      options.program.assign(argv + i + 1, argv + argc);
      if (options.program.empty())
        die("there is no program after --");
      break;
    } else if (word == "--arg") {
      options.arguments.push_back(take());
    } else if (word == "--out") {
      options.out = take();
    } else if (word == "--repeat") {
      if (!parseUnsigned(take(), options.repeat) || options.repeat == 0)
        die("--repeat " + value + ": expected a number from 1");
    } else if (word == "--info") {
      options.info = true;
    } else if (word == "--help" || word == "-h") {
      std::fputs(kUsage, stdout);
      std::exit(0);
    } else if (word.starts_with('-')) {
      die("unknown option '" + word + "'; see piton-run --help");
    } else if (options.kernel.empty()) {
      options.kernel = word;
    } else {
      die("more than one kernel: '" + options.kernel + "' and '" + word + "'");
    }
  }
  if (!options.program.empty() && (options.pes == 0 || !options.kernel.empty()))
    die("a program after -- needs -n N and no kernel");
  if (argc == 1) {
    std::fputs(kUsage, stderr);
    std::exit(1);
  }
  if (options.kernel.empty() && options.program.empty())
    die("there is no kernel and no program to run; see piton-run --help");
  return options;
}

//===-- Jobs --------------------------------------------------------------------------------===//

void barrier() {
  aclshmem_barrier_all();
  if (aclshmemx_last_status() != ACLSHMEM_SUCCESS)
    die(piton_last_error());
}

data_op_engine_type_t engineNamed(const std::string &name) {
  static constexpr std::pair<const char *, data_op_engine_type_t> kEngines[] = {
      {"mte", ACLSHMEM_DATA_OP_MTE},
      {"sdma", ACLSHMEM_DATA_OP_SDMA},
      {"udma", ACLSHMEM_DATA_OP_UDMA},
      {"roce", ACLSHMEM_DATA_OP_ROCE}};
  for (auto [known, engine] : kEngines)
    if (name == known)
      return engine;
  die("--engine " + name + ": expected mte, sdma, udma or roce");
}

int environmentNumber(const char *name) {
  const char *text = std::getenv(name);
  uint64_t value = 0;
  if (!text || !parseUnsigned(text, value) || value > 1 << 20)
    die(std::string("the environment variable ") + name + " of a PE is missing or no number");
  return static_cast<int>(value);
}

/// Joins the job that this process was started for; returns its rank.
int joinJob(const Options &options) {
  aclshmemx_set_conf_store_tls(false, "", 0); // all PEs are on this host
  aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_DEFAULT;
  attr.my_pe = environmentNumber("RANK");
  attr.n_pes = environmentNumber("WORLD_SIZE");
  attr.local_mem_size = options.heapBytes;
  attr.option_attr.data_op_engine_type = engineNamed(options.engine);
  const char *url = std::getenv(kJobUrlVariable);
  std::snprintf(attr.ip_port, sizeof(attr.ip_port), "%s", url ? url : "");
  if (aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr) != ACLSHMEM_SUCCESS)
    die(piton_last_error());
  return attr.my_pe;
}

std::string withRank(std::string text, int rank) {
  for (size_t at; (at = text.find("{rank}")) != std::string::npos;)
    text.replace(at, 6, std::to_string(rank));
  return text;
}

/// Whatever can be wrong on every PE is found here, before there are any, and said once.
void checkJob(const Options &options, const KernelHandle &kernel) {
  engineNamed(options.engine);
  for (uint64_t rank = 0; rank < options.pes; ++rank) {
    ArgumentSetter arguments(kernel, nullptr, true);
    bool differ = false;
    for (size_t i = 0; i < options.arguments.size(); ++i) {
      std::string text = withRank(options.arguments[i], static_cast<int>(rank));
      differ |= text != options.arguments[i];
      arguments.set(i, text);
    }
    if (arguments.arrayBytes > options.heapBytes)
      die("the arrays need " + std::to_string(arguments.arrayBytes) + " bytes, --heap gives " +
          std::to_string(options.heapBytes));
    if (!differ)
      return;
  }
}

/// Starts this program again, N times, as the PEs of a job. They get the image by a file that has
/// no name, so that nothing is left and a kernel is compiled once.
int startJob(const Options &options, const std::string &image, int argc, char **argv) {
  int file = memfd_create("piton-run-image", 0);
  if (file < 0)
    die(std::string("cannot make a file for the image: ") + std::strerror(errno));
  for (size_t done = 0; done < image.size();) {
    ssize_t n = write(file, image.data() + done, image.size() - done);
    if (n <= 0)
      die(std::string("cannot write a file for the image: ") + std::strerror(errno));
    done += static_cast<size_t>(n);
  }
  std::vector<std::string> command(argv, argv + argc);
  std::error_code ignored;
  command[0] = fs::read_symlink("/proc/self/exe", ignored).string();
  setenv(kImageVariable, ("/proc/self/fd/" + std::to_string(file)).c_str(), 1);
  return runJob(static_cast<int>(options.pes), command);
}

void makeFolder(const std::string &path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    die("--out " + path + ": " + error.message());
}

void launchAndReport(const ArgumentSetter &arguments, const Options &options) {
  std::vector<double> times;
  for (uint64_t i = 0; i < options.repeat; ++i) {
    auto start = std::chrono::steady_clock::now();
    require(launch(arguments.kernel, nullptr, options.grid[0], options.grid[1], options.grid[2],
                   arguments.block));
    if (arguments.symmetric)
      barrier(); // the next launch may overwrite what a peer still reads
    std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    times.push_back(time.count());
  }
  if (options.repeat == 1)
    return;
  std::sort(times.begin(), times.end());
  std::printf("%s: median of %zu launches %.2f us, fastest %.2f us\n",
              arguments.kernel.properties.name, times.size(), times[times.size() / 2], times[0]);
}

} // namespace

int main(int argc, char **argv) {
  Options options = parseOptions(argc, argv);
  if (!options.program.empty())
    return runJob(static_cast<int>(options.pes), options.program);
  const char *given = options.pes ? std::getenv(kImageVariable) : nullptr;
  bool isPe = given != nullptr;
  if (isPe)
    thisPe = environmentNumber("RANK");
  std::string image = readFile(isPe ? given : options.kernel);
  if (looksLikeText(image) && !image.empty())
    image = compile(options.kernel);
  KernelHandle kernel;
  if (kernel.load(image) != PITON_OK)
    die("'" + options.kernel + "': " + piton_last_error());
  if (options.info) {
    printInfo(kernel);
    return 0;
  }
  // An image runs on the SoC it was compiled for unless the user says otherwise.
  setenv("TRITON_ASCEND_ARCH", kernel.properties.target, /*overwrite=*/0);
  if (!options.haveGrid)
    die("--grid is missing");
  if (kernel.properties.distributed && !options.pes)
    die("kernel '" + std::string(kernel.properties.name) +
        "' is distributed; say with -n N on how many processing elements it runs");
  if (options.arguments.size() != kernel.arguments.size())
    die("kernel '" + std::string(kernel.properties.name) + "' takes " +
        std::to_string(kernel.arguments.size()) + " arguments, " +
        std::to_string(options.arguments.size()) + " are given; see piton-run --info " +
        options.kernel);
  if (options.pes && !isPe) {
    checkJob(options, kernel);
    if (!options.out.empty())
      for (uint64_t rank = 0; rank < options.pes; ++rank)
        makeFolder(withRank(options.out, static_cast<int>(rank)));
    return startJob(options, image, argc, argv);
  }
  int rank = isPe ? joinJob(options) : 0;
  piton_device_t *device = nullptr;
  require(piton_device_get(0, &device));
  ArgumentSetter arguments(kernel, device, isPe);
  for (size_t i = 0; i < options.arguments.size(); ++i)
    arguments.set(i, withRank(options.arguments[i], rank));
  options.out = withRank(options.out, rank);
  if (isPe)
    barrier(); // every PE's arrays are filled
  if (!options.out.empty())
    makeFolder(options.out);
  launchAndReport(arguments, options);
  if (!options.out.empty())
    for (const Array &array : arguments.arrays)
      if (kernel.arguments[array.index].tensor_kind != 0)
        writeArray(options.out, kernel, array);
  if (isPe) {
    if (aclshmem_finalize() != ACLSHMEM_SUCCESS)
      die(piton_last_error());
    return 0;
  }
  for (const Array &array : arguments.arrays)
    require(piton_memory_free(array.memory));
  return 0;
}
