// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formatting of device prints: indices padded to the width of the largest one, hexadecimal padded
// to the width of the type, several operands numbered.

#include "sim/DevicePrint.h"

#include "sim/Element.h"

#include "abi/KernelImage.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace piton::sim {
namespace {

template <typename... Args> void append(std::string &out, const char *format, Args... args) {
  char buffer[512];
  int n = std::snprintf(buffer, sizeof(buffer), format, args...);
  if (n > 0)
    out.append(buffer, std::min<size_t>(static_cast<size_t>(n), sizeof(buffer) - 1));
}

/// Triton's front end makes " name: " of a prefix; images may carry the bare name.
std::string decorate(const char *prefix) {
  std::string text = prefix ? prefix : "";
  if (text.empty())
    return " ";
  if (text.front() != ' ')
    text.insert(text.begin(), ' ');
  if (text.size() < 2 || text.compare(text.size() - 2, 2, ": ") != 0)
    text += text.back() == ':' ? " " : ": ";
  return text;
}

int digitsOf(int64_t value) {
  int digits = 1;
  for (; value >= 10; value /= 10)
    ++digits;
  return digits;
}

void appendIndex(std::string &out, const PrintOperand &operand, uint64_t element) {
  constexpr uint32_t maxRank = 16;
  uint32_t rank = std::min(operand.rank, maxRank);
  int64_t index[maxRank];
  for (uint32_t d = rank; d-- > 0;) {
    uint64_t size = operand.shape[d] > 0 ? static_cast<uint64_t>(operand.shape[d]) : 1;
    index[d] = static_cast<int64_t>(element % size);
    element /= size;
  }
  out += "idx (";
  for (uint32_t d = 0; d < rank; ++d)
    append(out, "%s%*" PRId64, d ? ", " : "", digitsOf(operand.shape[d] - 1), index[d]);
  out += ")";
}

void appendValue(std::string &out, const PrintOperand &operand, uint64_t element, bool hex) {
  auto type = static_cast<ElementType>(operand.type);
  if (isFloat(type) && !hex)
    return append(out, "%f", floatElement(operand.data, element, type));
  if (type == ElementType::Pointer)
    return append(out, "0x%" PRIx64,
                  static_cast<uint64_t>(integerElement(operand.data, element, type)));
  if (hex) {
    uint32_t bytes = elementBytes(type);
    uint64_t bits = 0;
    std::memcpy(&bits, static_cast<const uint8_t *>(operand.data) + element * bytes, bytes);
    return append(out, "0x%0*" PRIx64, static_cast<int>(bytes * 2), bits);
  }
  int64_t value = integerElement(operand.data, element, type);
  if (isUnsigned(type))
    append(out, "%" PRIu64, static_cast<uint64_t>(value));
  else
    append(out, "%" PRId64, value);
}

} // namespace

void formatPrint(std::string &out, const uint32_t pid[3], const char *prefix, bool hex,
                 const PrintOperand *operands, uint32_t count) {
  std::string text = decorate(prefix);
  auto appendPid = [&] { append(out, "pid (%u, %u, %u)", pid[0], pid[1], pid[2]); };
  if (count == 0) {
    appendPid();
    out += text + "\n";
    return;
  }
  for (uint32_t k = 0; k < count; ++k)
    for (uint64_t element = 0; element < operands[k].count; ++element) {
      appendPid();
      out += " ";
      appendIndex(out, operands[k], element);
      out += text;
      if (count > 1)
        append(out, "(operand %u) ", k);
      appendValue(out, operands[k], element, hex);
      out += "\n";
    }
}

} // namespace piton::sim
