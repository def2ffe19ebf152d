// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes NumPy's .npy files: versions 1 to 3, C order, little-endian plain types.
#ifndef PITON_TOOLS_NPY_H
#define PITON_TOOLS_NPY_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace piton {

/// The header of an array: NumPy's type text without byte order ("f4", "i8", "b1"), and shape.
struct NpyHeader {
  std::string type;
  std::vector<uint64_t> shape;
  /// Bytes of one element; 0 if the type is not one this reader knows.
  uint32_t elementBytes() const;
  /// Bytes of the whole array. The shape has been checked for overflow.
  uint64_t bytes() const;
};

/// Parses `file`; `data` becomes its array part. On failure returns false and sets `error` to what
/// is wrong, without the file's name.
bool readNpy(std::string_view file, NpyHeader &header, std::string_view &data, std::string &error);

/// The bytes of a .npy file in front of the data.
std::string npyPreamble(const NpyHeader &header);

} // namespace piton

#endif // PITON_TOOLS_NPY_H
