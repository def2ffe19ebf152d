// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// .npy files: a magic number, a version, and a Python dictionary in text form.

#include "tools/Npy.h"

#include <cctype>
#include <cstring>
#include <limits>

namespace piton {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

/// Reader of the dictionary text, which NumPy writes with exactly three keys.
class DictReader {
public:
  explicit DictReader(std::string_view text) : text(text) {}

  bool take(char c) {
    skipBlanks();
    if (text.empty() || text.front() != c)
      return false;
    text.remove_prefix(1);
    return true;
  }

  bool quoted(std::string &out) {
    skipBlanks();
    if (text.empty() || (text.front() != '\'' && text.front() != '"'))
      return false;
    size_t end = text.find(text.front(), 1);
    if (end == std::string_view::npos)
      return false;
    out = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    return true;
  }

  bool word(std::string_view expected) {
    skipBlanks();
    if (text.substr(0, expected.size()) != expected)
      return false;
    text.remove_prefix(expected.size());
    return true;
  }

  bool number(uint64_t &out) {
    skipBlanks();
    size_t digits = 0;
    out = 0;
    while (digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits]))) {
      auto digit = static_cast<uint64_t>(text[digits++] - '0');
      if (__builtin_mul_overflow(out, uint64_t(10), &out) ||
          __builtin_add_overflow(out, digit, &out))
        return false;
    }
    text.remove_prefix(digits);
    return digits > 0;
  }

  bool shape(std::vector<uint64_t> &out) {
    if (!take('('))
      return false;
    while (!take(')')) {
      uint64_t size;
      if (!number(size))
        return false;
      out.push_back(size);
      if (!take(',')) {
        if (!take(')'))
          return false;
        break;
      }
    }
    return true;
  }

private:
  void skipBlanks() {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
      text.remove_prefix(1);
  }

  std::string_view text;
};

bool parseDict(std::string_view text, NpyHeader &header, std::string &error) {
  DictReader reader(text);
  auto malformed = [&] {
    error = "its header is malformed";
    return false;
  };
  std::string descr;
  bool haveShape = false, haveOrder = false;
  if (!reader.take('{'))
    return malformed();
  while (!reader.take('}')) {
    std::string key;
    if (!reader.quoted(key) || !reader.take(':'))
      return malformed();
    if (key == "descr") {
      if (!reader.quoted(descr)) {
        error = "it holds a structured type; only plain numbers are supported";
        return false;
      }
    } else if (key == "fortran_order") {
      haveOrder = true;
      if (reader.word("True")) {
        error = "it is in Fortran order; save numpy.ascontiguousarray(a) instead";
        return false;
      }
      if (!reader.word("False"))
        return malformed();
    } else if (key == "shape") {
      haveShape = true;
      if (!reader.shape(header.shape))
        return malformed();
    } else {
      return malformed();
    }
    (void)reader.take(',');
  }
  if (descr.size() < 2 || !haveShape || !haveOrder)
    return malformed();
  bool plain = descr[0] == '<' || descr[0] == '|' || descr[0] == '=';
  header.type = descr.substr(1);
  if (!plain || header.elementBytes() == 0) {
    error = "its type '" + descr + "' is not supported";
    return false;
  }
  uint64_t total = header.elementBytes();
  for (uint64_t size : header.shape)
    if (__builtin_mul_overflow(total, size, &total) ||
        total > std::numeric_limits<int64_t>::max()) {
      error = "its shape is too large";
      return false;
    }
  return true;
}

} // namespace

uint32_t NpyHeader::elementBytes() const {
  for (const char *known :
       {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "V1", "V2"})
    if (type == known)
      return static_cast<uint32_t>(type[1] - '0');
  return 0;
}

uint64_t NpyHeader::bytes() const {
  uint64_t total = elementBytes();
  for (uint64_t size : shape)
    total *= size;
  return total;
}

bool readNpy(std::string_view file, NpyHeader &header, std::string_view &data, std::string &error) {
  if (file.substr(0, kMagic.size()) != kMagic || file.size() < 12) {
    error = "it is not a .npy file";
    return false;
  }
  auto byte = [&](size_t i) { return static_cast<uint64_t>(static_cast<uint8_t>(file[i])); };
  uint64_t version = byte(6), begin, length;
  if (version == 1) {
    begin = 10;
    length = byte(8) | byte(9) << 8;
  } else if (version == 2 || version == 3) {
    begin = 12;
    length = byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  } else {
    error = "its format version " + std::to_string(version) + " is not supported";
    return false;
  }
  if (length > file.size() - begin) {
    error = "it is truncated";
    return false;
  }
  NpyHeader parsed;
  if (!parseDict(file.substr(begin, length), parsed, error))
    return false;
  std::string_view rest = file.substr(begin + length);
  if (rest.size() != parsed.bytes()) {
    error = "it holds " + std::to_string(rest.size()) + " bytes of data, its header announces " +
            std::to_string(parsed.bytes());
    return false;
  }
  header = std::move(parsed);
  data = rest;
  return true;
}

std::string npyPreamble(const NpyHeader &header) {
  std::string text = "{'descr': '";
  text += header.elementBytes() == 1 ? '|' : '<';
  text += header.type + "', 'fortran_order': False, 'shape': (";
  for (uint64_t size : header.shape)
    text += std::to_string(size) + ",";
  text += "), }";
  constexpr size_t prefix = 10; // magic, version, length
  text.append(63 - (prefix + text.size()) % 64, ' ');
  text += '\n';
  std::string out(kMagic);
  out += '\1';
  out += '\0';
  out += static_cast<char>(text.size() & 255);
  out += static_cast<char>(text.size() >> 8);
  return out + text;
}

} // namespace piton
