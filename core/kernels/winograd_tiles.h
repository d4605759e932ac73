// The transforms of Winograd's convolution, for many 4 x 4 tiles at once: sums of lines.
#pragma once
#include <cstdint>

#include "kernels/tile.h"

namespace forerun {

inline constexpr int kPoints = 16;                                                    // at which products are made, for each tile
inline constexpr int64_t kVector = kTileBytes / static_cast<int64_t>(sizeof(float));  // read and written at once, at most

// One line of n tiles, of which each begins two elements after the one before, to four lines of sums, `half` apart. n is a multiple of
// kVector; 2 n + 2 elements are read. mask: all bits of those that count, for others none: they count as 0.
void add_across(const float* line, const int32_t* mask, float* to, int64_t step, int64_t n);
// From the sums of four lines to the points of n tiles, `plane` apart. Up to kVector - 1 elements behind them are overwritten.
void add_down(const float* const (&lines)[4], int64_t step, float* points, int64_t plane, int64_t n);
// From the points of n tiles to the two lines of their results; both have room for 2 n, rounded up to 2 kVector. mask: of the tiles that
// count, as above. `zeros`, kVector of them, stay zeros if all their results are finite numbers.
void add_back(const float* points, int64_t plane, const int32_t* mask, float* top, float* bottom, int64_t n, float* zeros);

}  // namespace forerun
