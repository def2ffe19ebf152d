# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Orders in which blocks visit tiles, so that communication is spread over the PEs."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def dist_swizzle2d_Nz(
    iter_id,
    rank_size,
    data_row_shape,
    data_col_shape,
    tile_row_shape,
    tile_col_shape,
    comm_npu_split: tl.constexpr = 1,
):
    """Which tile to move to or from which PE in step `iter_id`.

    Data of (data_row_shape, data_col_shape) elements in tiles of (tile_row_shape, tile_col_shape),
    once for each of rank_size PEs. Gives (row, column, PE, rows, columns): tile indices, and how
    much of the tile is inside the data. Successive tiles go to different PEs.
    """
    col_tiles = tl.cdiv(data_col_shape, tile_col_shape)
    tiles = tl.cdiv(data_row_shape, tile_row_shape) * col_tiles
    stride = rank_size // comm_npu_split
    group = iter_id // (comm_npu_split * tiles)
    rest = iter_id % (comm_npu_split * tiles)
    size = tl.minimum(comm_npu_split, rank_size - comm_npu_split * group)
    tile = rest // size
    raw = group * comm_npu_split + rest % size
    # Neighbours in a group go to PEs that are `stride` apart; every PE is somebody's.
    spread = (raw * stride) % rank_size + (raw * stride) // rank_size
    spread = tl.where(rank_size % comm_npu_split == 0, spread, raw)
    rank = (spread + tile) % rank_size
    row = tile // col_tiles
    col = tile % col_tiles
    rows = tl.minimum(data_row_shape - row * tile_row_shape, tile_row_shape)
    cols = tl.minimum(data_col_shape - col * tile_col_shape, tile_col_shape)
    return row, col, rank, rows, cols


@triton.jit
def gemm_swizzle2d_Nz(iter_id, rows, cols, tile_r, tile_c, swizzle_offset: tl.constexpr = 7):
    """Which (row, column) tile of a product to compute in step `iter_id`.

    Bands of swizzle_offset columns; every second band runs its rows backwards.
    """
    row_tiles = tl.cdiv(rows, tile_r)
    col_tiles = tl.cdiv(cols, tile_c)
    band = iter_id // (swizzle_offset * row_tiles)
    rest = iter_id % (swizzle_offset * row_tiles)
    width = tl.minimum(swizzle_offset, col_tiles - swizzle_offset * band)
    row = rest // width
    col = swizzle_offset * band + rest % width
    row = tl.where(band % 2 == 1, row_tiles - 1 - row, row)
    return row, col
