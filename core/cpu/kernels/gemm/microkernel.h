// The inner loop of convolutions: sums of products, for a tile of the result that stays in registers.
#pragma once
#include <cstdint>

#include "base/rounding.h"

namespace forerun {

inline constexpr int kTileRows = 8;        // of a panel
inline constexpr int64_t kTerms = 160;     // stay in the innermost cache while all panels are multiplied with them
inline constexpr int64_t kTileBytes = 64;  // what is read and written at once: columns are rounded up to that

// As many columns as are computed for so many.
template <class T>
constexpr int64_t tile_columns(int64_t columns) {
  constexpr int64_t n = kTileBytes / static_cast<int64_t>(sizeof(T));
  return round_up(columns, n);
}

// c[i][j] = sum over t of panel[t][i] * b[offsets[t] + j]; with `add`, c += that sum. T: float or double.
// panel: terms x kTileRows, of which rows from `rows` on are not used. Of b and c, tile_columns(columns) columns must
// be there; c has kTileRows rows, `step` elements apart, of which those from `rows` on hold anything afterwards. Each
// element is summed in the order of t, whatever the CPU; products are not rounded where the CPU can add them so.
template <class T>
void multiply_tile(int64_t terms, const T* panel, const T* b, const int64_t* offsets, T* c, int64_t step, int rows,
                   int64_t columns, bool add);

}  // namespace forerun
