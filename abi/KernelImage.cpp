// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes kernel images. The reader trusts nothing: the header is checked against the
// bytes present, the checksum before anything behind the header is looked at, and every field of
// the metadata for type and range, so that later code can use it without checks.

#include "abi/KernelImage.h"

#include <nlohmann/json.hpp>

#include <cstring>
#include <elf.h>

namespace piton {
namespace {

using Json = nlohmann::json;

constexpr char kMagic[8] = {'P', 'I', 'T', 'O', 'N', 'I', 'M', 'G'};

/// Little endian, as the only supported host is.
struct ImageHeader {
  char magic[8];
  uint32_t abiVersion;
  uint32_t headerBytes;
  uint64_t metadataBytes; ///< padded with blanks so that the ELF starts at a multiple of 64
  uint64_t elfBytes;
  uint64_t checksum; ///< of everything behind the header
  uint64_t reserved[3];
};
static_assert(sizeof(ImageHeader) == 64);

// Limits that keep a damaged image from asking for absurd resources.
constexpr uint64_t kMaxArenaBytes = uint64_t(4) << 30;
constexpr uint64_t kMaxStackBytes = uint64_t(1) << 30;
constexpr uint64_t kMaxArgBytes = uint64_t(1) << 20;
constexpr uint64_t kMaxLockWords = uint64_t(1) << 24;
constexpr uint64_t kMaxWorkspaceBytes = uint64_t(1) << 36;
constexpr uint64_t kMaxNameBytes = 4096;

/// Every step is a bijection of the running value, so any change to a single word is detected.
uint64_t checksum(std::string_view bytes) {
  constexpr uint64_t multiplier = 0x9E3779B97F4A7C15;
  uint64_t hash = bytes.size() * multiplier;
  auto mix = [&](uint64_t word) {
    hash = (hash ^ word) * multiplier;
    hash ^= hash >> 32;
  };
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + i, 8);
    mix(word);
  }
  uint64_t tail = 0;
  std::memcpy(&tail, bytes.data() + i, bytes.size() - i);
  mix(tail);
  return hash;
}

/// Field-by-field reader of the metadata; the first problem wins.
class MetadataReader {
public:
  MetadataReader(const Json &object, std::string &error) : object(object), error(error) {}

  bool ok() const { return error.empty(); }

  void fail(const std::string &what) {
    if (error.empty())
      error = "kernel image metadata: " + what;
  }

  const Json *field(const char *key, Json::value_t type, const char *typeName) {
    if (!ok())
      return nullptr;
    auto it = object.find(key);
    if (it == object.end()) {
      fail(std::string("field '") + key + "' is missing");
      return nullptr;
    }
    if (it->type() != type) {
      fail(std::string("field '") + key + "' is not " + typeName);
      return nullptr;
    }
    return &*it;
  }

  void text(const char *key, std::string &out, uint64_t maxBytes = kMaxNameBytes) {
    const Json *value = field(key, Json::value_t::string, "a string");
    if (!value)
      return;
    out = value->get_ref<const std::string &>();
    if (out.size() > maxBytes)
      fail(std::string("field '") + key + "' has " + std::to_string(out.size()) +
           " bytes, at most " + std::to_string(maxBytes) + " are allowed");
    if (out.find('\0') != std::string::npos)
      fail(std::string("field '") + key + "' contains a NUL");
  }

  void number(const char *key, uint64_t &out, uint64_t max) {
    const Json *value = field(key, Json::value_t::number_unsigned, "an unsigned number");
    if (!value)
      return;
    out = value->get<uint64_t>();
    if (out > max)
      fail(std::string("field '") + key + "' is " + std::to_string(out) + ", at most " +
           std::to_string(max) + " is allowed");
  }

  void flag(const char *key, bool &out) {
    if (const Json *value = field(key, Json::value_t::boolean, "a boolean"))
      out = value->get<bool>();
  }

private:
  const Json &object;
  std::string &error;
};

bool isUnsigned(const Json &value, uint64_t max) {
  return value.is_number_unsigned() && value.get<uint64_t>() <= max;
}

/// Arguments are stored as [type, pointee, offset, tensorKind, name].
void readArguments(MetadataReader &reader, KernelMetadata &m) {
  const Json *list = reader.field("arguments", Json::value_t::array, "an array");
  if (!list)
    return;
  constexpr uint64_t maxType = static_cast<uint64_t>(ElementType::Pointer);
  uint64_t end = 0;
  for (const Json &row : *list) {
    std::string where = "argument " + std::to_string(m.arguments.size());
    if (!row.is_array() || row.size() != 5 || !isUnsigned(row[0], maxType) ||
        !isUnsigned(row[1], maxType) || !isUnsigned(row[2], kMaxArgBytes) ||
        !row[3].is_number_integer() || !row[4].is_string())
      return reader.fail(where + " is malformed");
    auto kind = row[3].get<int64_t>();
    if (kind < -1 || kind > 2)
      return reader.fail(where + " has tensor kind " + std::to_string(kind) + ", not in -1..2");
    KernelArgument argument;
    argument.type = static_cast<ElementType>(row[0].get<uint32_t>());
    argument.pointee = static_cast<ElementType>(row[1].get<uint32_t>());
    argument.offset = row[2].get<uint32_t>();
    argument.tensorKind = static_cast<int32_t>(kind);
    argument.name = row[4].get_ref<const std::string &>();
    uint64_t slot = argumentSlotBytes(argument.type);
    if (argument.offset % slot != 0 || argument.offset < end || argument.offset + slot > m.argBytes)
      return reader.fail(where + " at offset " + std::to_string(argument.offset) +
                         " does not fit its slot in the argument block of " +
                         std::to_string(m.argBytes) + " bytes");
    end = argument.offset + slot;
    m.arguments.push_back(std::move(argument));
  }
}

void readLines(MetadataReader &reader, KernelMetadata &m) {
  const Json *files = reader.field("files", Json::value_t::array, "an array");
  const Json *lines = reader.field("lines", Json::value_t::array, "an array");
  if (!files || !lines)
    return;
  for (const Json &file : *files) {
    if (!file.is_string())
      return reader.fail("file " + std::to_string(m.files.size()) + " is not a string");
    m.files.push_back(file.get_ref<const std::string &>());
  }
  if (lines->size() % 3 != 0)
    return reader.fail("the line table has an incomplete row");
  m.lines.reserve(lines->size() / 3);
  uint64_t previous = 0;
  for (size_t i = 0; i < lines->size(); i += 3) {
    const Json &address = (*lines)[i], &file = (*lines)[i + 1], &line = (*lines)[i + 2];
    if (!isUnsigned(address, UINT64_MAX) || !isUnsigned(file, UINT32_MAX) ||
        !isUnsigned(line, UINT32_MAX) || address.get<uint64_t>() < previous ||
        file.get<uint64_t>() >= m.files.size())
      return reader.fail("row " + std::to_string(i / 3) + " of the line table is malformed");
    previous = address.get<uint64_t>();
    m.lines.push_back({previous, file.get<uint32_t>(), line.get<uint32_t>()});
  }
}

bool readMetadata(std::string_view text, KernelMetadata &m, std::string &error) {
  Json object = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    error = "kernel image metadata is not a JSON object";
    return false;
  }
  MetadataReader reader(object, error);
  uint64_t kind = 0;
  reader.number("kind", kind, 3);
  if (reader.ok() && kind == 0)
    reader.fail("kind 0 is not known");
  m.kind = static_cast<ImageKind>(kind);
  reader.text("name", m.name);
  if (reader.ok() && m.name.empty())
    reader.fail("the kernel has no name");
  reader.text("target", m.target);
  reader.text("hostCpu", m.hostCpu);
  reader.text("hostFeatures", m.hostFeatures, 1 << 16);
  reader.text("mixMode", m.mixMode);
  if (reader.ok() && m.mixMode != "aiv" && m.mixMode != "aic" && m.mixMode != "mix")
    reader.fail("mix mode '" + m.mixMode + "' is none of aiv, aic, mix");
  reader.text("parallelMode", m.parallelMode);
  reader.number("arenaBytes", m.arenaBytes, kMaxArenaBytes);
  reader.number("stackBytes", m.stackBytes, kMaxStackBytes);
  reader.number("argBytes", m.argBytes, kMaxArgBytes);
  reader.number("lockWords", m.lockWords, kMaxLockWords);
  reader.number("workspaceBytes", m.workspaceBytes, kMaxWorkspaceBytes);
  reader.number("sharedBytes", m.sharedBytes, kMaxArenaBytes);
  reader.flag("canBlock", m.canBlock);
  reader.flag("distributed", m.distributed);
  readArguments(reader, m);
  readLines(reader, m);
  return reader.ok();
}

/// dlopen maps what the program headers say; a segment behind the end of the file kills the
/// process at first touch, so they are checked here.
bool checkElf(std::string_view elf, std::string &error) {
  Elf64_Ehdr header;
  if (elf.size() < sizeof(header)) {
    error = "kernel image: the code has " + std::to_string(elf.size()) +
            " bytes, less than an ELF header";
    return false;
  }
  std::memcpy(&header, elf.data(), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_DYN ||
      header.e_machine != EM_X86_64 || header.e_phentsize != sizeof(Elf64_Phdr)) {
    error = "kernel image: the code is not an x86-64 ELF shared object";
    return false;
  }
  if (header.e_phoff > elf.size() ||
      header.e_phnum * sizeof(Elf64_Phdr) > elf.size() - header.e_phoff) {
    error = "kernel image: the ELF program headers lie behind the end of the code";
    return false;
  }
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, elf.data() + header.e_phoff + i * sizeof(segment), sizeof(segment));
    if (segment.p_type == PT_NULL)
      continue;
    if (segment.p_offset > elf.size() || segment.p_filesz > elf.size() - segment.p_offset) {
      error = "kernel image: ELF segment " + std::to_string(i) + " lies behind the end of the code";
      return false;
    }
  }
  return true;
}

Json toJson(const KernelMetadata &m) {
  Json arguments = Json::array(), lines = Json::array();
  for (const KernelArgument &a : m.arguments)
    arguments.push_back(
        Json::array({static_cast<uint32_t>(a.type), static_cast<uint32_t>(a.pointee), a.offset,
                     a.tensorKind, a.name}));
  for (const LineEntry &entry : m.lines) {
    lines.push_back(entry.address);
    lines.push_back(entry.file);
    lines.push_back(entry.line);
  }
  return {{"kind", static_cast<uint32_t>(m.kind)},
          {"name", m.name},
          {"target", m.target},
          {"hostCpu", m.hostCpu},
          {"hostFeatures", m.hostFeatures},
          {"mixMode", m.mixMode},
          {"parallelMode", m.parallelMode},
          {"arenaBytes", m.arenaBytes},
          {"stackBytes", m.stackBytes},
          {"argBytes", m.argBytes},
          {"lockWords", m.lockWords},
          {"workspaceBytes", m.workspaceBytes},
          {"sharedBytes", m.sharedBytes},
          {"canBlock", m.canBlock},
          {"distributed", m.distributed},
          {"arguments", std::move(arguments)},
          {"files", m.files},
          {"lines", std::move(lines)}};
}

} // namespace

uint32_t elementBytes(ElementType type) {
  switch (type) {
  case ElementType::I1:
  case ElementType::I8:
  case ElementType::U8:
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
  case ElementType::F8E4M3FNUZ:
  case ElementType::F8E5M2FNUZ:
    return 1;
  case ElementType::I16:
  case ElementType::U16:
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::I32:
  case ElementType::U32:
  case ElementType::F32:
    return 4;
  case ElementType::I64:
  case ElementType::U64:
  case ElementType::F64:
  case ElementType::Pointer:
    return 8;
  }
  return 0;
}

uint32_t argumentSlotBytes(ElementType type) { return elementBytes(type) == 8 ? 8 : 4; }

std::string writeKernelImage(const KernelMetadata &metadata, std::string_view elf) {
  // Python file names may hold anything: bytes that are not UTF-8 are replaced, never refused.
  std::string body = toJson(metadata).dump(-1, ' ', false, Json::error_handler_t::replace);
  body.append((64 - body.size() % 64) % 64, ' ');
  ImageHeader header = {};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.abiVersion = kKernelAbiVersion;
  header.headerBytes = sizeof(header);
  header.metadataBytes = body.size();
  header.elfBytes = elf.size();
  body.append(elf);
  header.checksum = checksum(body);
  return std::string(reinterpret_cast<const char *>(&header), sizeof(header)) + body;
}

bool readKernelImage(std::string_view bytes, KernelMetadata &metadata, std::string_view &elf,
                     std::string &error) {
  auto fail = [&](std::string text) {
    error = std::move(text);
    return false;
  };
  ImageHeader header;
  if (bytes.size() < sizeof(header))
    return fail("kernel image has " + std::to_string(bytes.size()) + " bytes, the header alone " +
                std::to_string(sizeof(header)));
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0)
    return fail("not a kernel image: the magic number is wrong");
  if (header.abiVersion != kKernelAbiVersion)
    return fail("kernel image has ABI version " + std::to_string(header.abiVersion) +
                ", this build reads version " + std::to_string(kKernelAbiVersion) +
                "; compile the kernel again");
  if (header.headerBytes != sizeof(header) || header.reserved[0] || header.reserved[1] ||
      header.reserved[2])
    return fail("kernel image header is damaged");
  uint64_t rest = bytes.size() - sizeof(header);
  if (header.metadataBytes > rest || header.elfBytes != rest - header.metadataBytes)
    return fail("kernel image is truncated or damaged: the header announces " +
                std::to_string(header.metadataBytes) + " + " + std::to_string(header.elfBytes) +
                " bytes, " + std::to_string(rest) + " follow it");
  std::string_view body = bytes.substr(sizeof(header));
  if (checksum(body) != header.checksum)
    return fail("kernel image is damaged: checksum mismatch");
  std::string problem;
  KernelMetadata parsed;
  if (!readMetadata(body.substr(0, header.metadataBytes), parsed, problem))
    return fail(std::move(problem));
  std::string_view code = body.substr(header.metadataBytes);
  if (parsed.kind == ImageKind::Fast && !checkElf(code, problem))
    return fail(std::move(problem));
  metadata = std::move(parsed);
  elf = code;
  return true;
}

} // namespace piton
