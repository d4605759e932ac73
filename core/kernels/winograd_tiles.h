// The transforms of Winograd's convolution, for many 4 x 4 tiles at once: sums of lines.
#pragma once
#include <cstdint>

#include "kernels/tile.h"

namespace forerun {

inline constexpr int kPoints = 16;                                                    // at which products are made, for each tile
inline constexpr int64_t kVector = kTileBytes / static_cast<int64_t>(sizeof(float));  // read and written at once, at most

// Tiles that follow one another in a line of the results are a strip; those of a long line are in several pieces of one width. Strips
// that lie below one another have numbers that follow one another.
struct Strips {
  struct At {
    int64_t example, line, first;  // of the results: its upper line, and the first in it
  };
  int64_t lines = 0, width = 0, pieces = 1, count = 0;

  Strips() = default;
  Strips(int64_t examples, int64_t results_down, int64_t results_across, int64_t widest)
      : lines((results_down + 1) / 2), width((results_across + 1) / 2), pieces((width + widest - 1) / widest) {
    width = (width + pieces - 1) / pieces, count = examples * pieces * lines;
  }
  At at(int64_t number) const { return {number / lines / pieces, number % lines * 2, number / lines % pieces * width * 2}; }
};

// One line of n tiles, of which each begins two elements after the one before, to four lines of sums, `half` apart. n is a multiple of
// kVector; 2 n + 2 elements are read. mask: all bits of those that count, for others none: they count as 0.
void add_across(const float* line, const int32_t* mask, float* to, int64_t step, int64_t n);
// From the sums of four lines to the points of n tiles, `plane` apart. Up to kVector - 1 elements behind them are overwritten.
void add_down(const float* const (&lines)[4], int64_t step, float* points, int64_t plane, int64_t n);
// From the points of n tiles to the two lines of their results; both have room for 2 n, rounded up to 2 kVector. mask: of the tiles that
// count, as above. `zeros`, kVector of them, stay zeros if all their results are finite numbers.
void add_back(const float* points, int64_t plane, const int32_t* mask, float* top, float* bottom, int64_t n, float* zeros);

// Kernels of 3 x 3 of kTileRows rows, w[element][row], to their points, `plane` apart. turned: from the last element to the first.
void kernels_to_points(const float* w, bool turned, float* points, int64_t plane);
// Four lines of n elements, those of line i at from + i * step bytes, next to each other: element k of line i to to[k * places + i].
void turn_four(const char* from, int64_t step, int64_t n, float* to, int64_t places);
// One tile of `lines` of vectors, which lie `step` apart, of n elements each, a multiple of kVector: to its points, `plane` apart.
void vectors_to_points(const float* const (&lines)[4], int64_t step, float* points, int64_t plane, int64_t n);
// The same for 2 x 2 vectors of kTileRows elements each that stand for a kernel.
void rows_to_points(const float* top, const float* bottom, int64_t step, float* points, int64_t plane);
// From the points of n kernels, a multiple of kVector, to the elements of each: n of each of the nine.
void points_to_kernels(const float* points, int64_t plane, float* to, int64_t n);

}  // namespace forerun
