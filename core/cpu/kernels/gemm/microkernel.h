// The inner loop of convolutions: sums of products, for a tile of the result that stays in registers.
#pragma once
#include <cstdint>

#include "base/rounding.h"

namespace forerun {

inline constexpr int kTileRows = 8;        // of a panel
inline constexpr int64_t kTerms = 160;     // stay in the L1 cache while all panels are multiplied with them
inline constexpr int64_t kTileBytes = 64;  // bytes read and written at once: columns are rounded up to that

// The number of columns that are computed for so many: rounded up to whole vectors.
template <class T>
constexpr int64_t tile_columns(int64_t columns) {
  constexpr int64_t n = kTileBytes / static_cast<int64_t>(sizeof(T));
  return round_up(columns, n);
}

// c[i][j] = sum over t of panel[t][i] * b[offsets[t] + j]; with `add`, c += that sum. T: float or double. panel: terms
// x kTileRows, of which rows from `rows` on are not used. b and c must have tile_columns(columns) columns; c has
// kTileRows rows, `step` elements apart, of which those from `rows` on are undefined afterwards. Each element is summed
// in the order of t, whatever the CPU; products are not rounded on CPUs with fused multiply-add.
template <class T>
void multiply_tile(int64_t terms, const T* panel, const T* b, const int64_t* offsets, T* c, int64_t step, int rows,
                   int64_t columns, bool add);

}  // namespace forerun
