// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to the tile product: the blocking and the register kernel, written
// once over the operations of an instruction set. Rows of A are packed for the
// whole block, B one panel of two registers' width at a time, right before its
// use, so that the panel stays in L1 while A streams past it.
//
// Included by files built for different machines: everything is in an unnamed
// namespace, and nothing from the C++ library is used, because an inline
// function built here would otherwise be the linker's choice for all callers.
#ifndef PITON_SIM_GEMMBLOCK_H
#define PITON_SIM_GEMMBLOCK_H

#include "sim/GemmForms.h"

namespace piton::sim::detail {
namespace {

inline int64_t smaller(int64_t x, int64_t y) { return x < y ? x : y; }

/// C[rows, cols] (+)= packed A * panel. `Ops` is the arithmetic of one instruction set:
///   Reg        vector register; Acc the type of C; Unit what one lane of B holds: one element, or
///              the 2 or 4 successive k of I8 that one instruction multiplies and adds
///   kLanes, kRows (the most rows that the registers hold beside two registers of B)
///   kBias      true if the packing of B also makes a bias per column, subtracted from C
///   zero, load, loadPart, store, storePart, sub on C; loadB, broadcast; multiplyAdd(a, b, acc)
template <typename Ops, int rows, int regs>
void registerTile(const typename Ops::Unit *__restrict a, const typename Ops::Unit *__restrict b,
                  typename Ops::Acc *__restrict c, int64_t cRow, int64_t units, int cols,
                  bool accumulate, const typename Ops::Acc *bias) {
  using Reg = typename Ops::Reg;
  constexpr int64_t aRow = kPackedRowBytes / int64_t(sizeof(typename Ops::Unit));
  constexpr int lanes = Ops::kLanes;
  const bool whole = cols == regs * lanes;
  const int last = cols - (regs - 1) * lanes; // columns in the last register
  Reg acc[rows][regs];
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < regs; ++v) {
      if (!accumulate)
        acc[i][v] = Ops::zero();
      else if (whole || v + 1 < regs)
        acc[i][v] = Ops::load(c + i * cRow + v * lanes);
      else
        acc[i][v] = Ops::loadPart(c + i * cRow + v * lanes, last);
      if constexpr (Ops::kBias)
        acc[i][v] = Ops::sub(acc[i][v], Ops::load(bias + v * lanes));
    }
  for (int64_t p = 0; p < units; ++p) {
    Reg right[regs];
    for (int v = 0; v < regs; ++v)
      right[v] = Ops::loadB(b + (p * regs + v) * lanes);
    for (int i = 0; i < rows; ++i) {
      Reg left = Ops::broadcast(a + i * aRow + p);
      for (int v = 0; v < regs; ++v)
        acc[i][v] = Ops::multiplyAdd(left, right[v], acc[i][v]);
    }
  }
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < regs; ++v) {
      if (whole || v + 1 < regs)
        Ops::store(c + i * cRow + v * lanes, acc[i][v]);
      else
        Ops::storePart(c + i * cRow + v * lanes, acc[i][v], last);
    }
}

template <typename Ops> using TileFunction = decltype(&registerTile<Ops, 1, 1>);

/// The row counts 1 to kRows as a table; index sequences would come from the C++ library.
template <typename Ops, int regs, int rows = Ops::kRows>
struct TileTable : TileTable<Ops, regs, rows - 1> {
  static TileFunction<Ops> get(int64_t count) {
    return count == rows ? &registerTile<Ops, rows, regs>
                         : TileTable<Ops, regs, rows - 1>::get(count);
  }
};
template <typename Ops, int regs> struct TileTable<Ops, regs, 1> {
  static TileFunction<Ops> get(int64_t) { return &registerTile<Ops, 1, regs>; }
};

/// All rows of packed A against one panel. Rows are split evenly: 128 rows by at most 12 run as
/// 11 tiles of 12 or 11 rows, not ten of 12 and one of 8.
template <typename Ops, int regs>
void panel(const typename Ops::Unit *a, const typename Ops::Unit *b, typename Ops::Acc *c,
           int64_t cRow, int64_t rows, int64_t units, int cols, bool accumulate,
           const typename Ops::Acc *bias) {
  constexpr int64_t aRow = kPackedRowBytes / int64_t(sizeof(typename Ops::Unit));
  int64_t tiles = (rows + Ops::kRows - 1) / Ops::kRows;
  int64_t size = (rows + tiles - 1) / tiles;
  int64_t larger = rows - (size - 1) * tiles; // tiles of `size` rows; the others have one less
  TileFunction<Ops> largeTile = TileTable<Ops, regs>::get(size);
  TileFunction<Ops> smallTile = size > 1 ? TileTable<Ops, regs>::get(size - 1) : largeTile;
  for (int64_t t = 0, i = 0; t < tiles; ++t) {
    int64_t count = t < larger ? size : size - 1;
    (t < larger ? largeTile : smallTile)(a + i * aRow, b, c + i * cRow, cRow, units, cols,
                                         accumulate, bias);
    i += count;
  }
}

/// `Packing` brings the element type: Unit, Acc, kElementBytes, kPerUnit (elements of k in a Unit),
///   packA(dst, src, row, col, rows, depth), packB(dst, width, src, row, col, depth, cols, bias)
template <typename Ops, typename Packing>
void runBlocks(const GemmRequest &request, void *scratch) {
  using Unit = typename Ops::Unit;
  using Acc = typename Ops::Acc;
  constexpr int64_t width = 2 * Ops::kLanes;
  constexpr int64_t depth = kBlockDepthBytes / int64_t(sizeof(Unit)) * Packing::kPerUnit;
  Unit *packedA = static_cast<Unit *>(scratch);
  Unit *packedB = packedA + kBlockRows * kPackedRowBytes / int64_t(sizeof(Unit));
  alignas(64) Acc bias[width];
  const char *a = static_cast<const char *>(request.a);
  const char *b = static_cast<const char *>(request.b);
  Acc *c = static_cast<Acc *>(request.c);
  for (int64_t p = 0; p < request.k; p += depth) {
    const int64_t deep = smaller(depth, request.k - p);
    const int64_t units = (deep + Packing::kPerUnit - 1) / Packing::kPerUnit;
    const bool accumulate = p > 0 || !(request.flags & kGemmZeroInit);
    for (int64_t i = 0; i < request.m; i += kBlockRows) {
      const int64_t rows = smaller(kBlockRows, request.m - i);
      Packing::packA(packedA, a + (i * request.aRow + p * request.aCol) * Packing::kElementBytes,
                     request.aRow, request.aCol, rows, deep);
      for (int64_t j = 0; j < request.n; j += width) {
        const int64_t cols = smaller(width, request.n - j);
        const bool narrow = cols <= Ops::kLanes;
        Packing::packB(packedB, narrow ? Ops::kLanes : width,
                       b + (p * request.bRow + j * request.bCol) * Packing::kElementBytes,
                       request.bRow, request.bCol, deep, cols, bias);
        (narrow ? panel<Ops, 1> : panel<Ops, 2>)(packedA, packedB, c + i * request.cRow + j,
                                                 request.cRow, rows, units, int(cols), accumulate,
                                                 bias);
      }
    }
  }
}

} // namespace
} // namespace piton::sim::detail

#endif // PITON_SIM_GEMMBLOCK_H
