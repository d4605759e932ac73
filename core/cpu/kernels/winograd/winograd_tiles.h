// The transforms of Winograd's convolution: of a 4 x 4 tile for many channels at once.
#pragma once
#include <cstdint>

#include "base/rounding.h"
#include "cpu/kernels/conv/conv_layout.h"
#include "cpu/kernels/gemm/microkernel.h"

namespace forerun {

inline constexpr int kPoints = 16;  // at which products are computed, for each tile
inline constexpr int64_t kVector =
    kTileBytes / static_cast<int64_t>(sizeof(float));  // read and written at once, at most

// Consecutive tiles in a line of the results are a strip; those of a long line form several strips of one width. Strips
// below one another have consecutive numbers.
struct Strips {
  struct At {
    int64_t example, line, first;  // of the results: its upper line, and the first in it
  };
  int64_t lines = 0, width = 0, pieces = 1, count = 0;

  static constexpr int64_t kWidest = 32;

  Strips() = default;
  Strips(int64_t examples, int64_t results_down, int64_t results_across)
      : lines(ceil_div(results_down, 2)), width(ceil_div(results_across, 2)), pieces(ceil_div(width, kWidest)) {
    width = ceil_div(width, pieces), count = examples * pieces * lines;
  }
  At at(int64_t number) const {
    return {number / lines / pieces, number % lines * 2, number / lines % pieces * width * 2};
  }
};

// Transforms kernels of 3 x 3 of kTileRows rows, w[element][row], to their points, `plane` apart. turned: the kernels
// are reversed.
void kernels_to_points(const float* w, bool turned, float* points, int64_t plane);
// Copies n columns of a line of channels, from column `first` on, to [column][step]: zeros outside of lines x extent.
// The rest of a step, behind the channels, is unchanged.
void transpose_line(const char* from, const ImageStrides& field, int64_t channels, int64_t line, int64_t first,
                    int64_t lines, int64_t extent, int64_t n, float* to, int64_t step);

// The four lines of a strip, [column][step]; each tile begins two columns after the one before. A strip below the
// previous one shares two lines with it. step: of channels, a multiple of kVector.
class StripLines {
 public:
  static int64_t size(int64_t width, int64_t step) { return 4 * (2 * width + 2) * step; }
  StripLines(float* room, int64_t width, int64_t step);
  // Transforms the tiles of a strip of an example's channels to their points: [tile][step], `plane` apart. first: it is
  // the first strip.
  void to_points(const char* from, const ImageStrides& field, int64_t channels, const Strips::At& strip, bool first,
                 const int64_t (&pad)[2], const int64_t (&extents)[2], float* points, int64_t plane);

 private:
  int64_t width_, step_;
  float* lines_[4];
};

// Transforms sums at the points of tiles to two lines of their results, in the same order. `zeros`, kVector of them,
// stay zeros if all results are finite.
void points_to_tiles(const float* points, int64_t plane, int64_t tiles, int64_t step, float* top, float* bottom,
                     float* zeros);
// Transforms 2 x 2 vectors of kTileRows elements each, used as a kernel, to the points, `plane` apart.
void rows_to_points(const float* top, const float* bottom, int64_t step, float* points, int64_t plane);
// Transforms the points of n kernels, a multiple of kVector, to the elements of each: n of each of the nine.
void points_to_kernels(const float* points, int64_t plane, float* to, int64_t n);

}  // namespace forerun
