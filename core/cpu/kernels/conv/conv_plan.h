// The plan of a convolution, forward or backward: how it sweeps over its source, and how the work is divided into
// tiles.
//
// A tile computes the results of some examples and one group: a band of them along one axis, if an example's data does
// not fit into a core's cache, and a part of the rows, if there would be too few tiles. The source of an example is
// copied with its padding, with elements that are a stride apart next to each other ("phases": with stride 2, the even
// and the odd ones).
#pragma once
#include <cstdint>
#include <numeric>

#include "base/dtype.h"
#include "cpu/kernels/conv/conv.h"

namespace forerun {

// Results at positions that are a stride apart: all results in the forward direction; those of one phase in the
// backward one.
using Phase = int64_t[3];

template <class F>
void each_place(const int64_t (&n)[3], F f) {
  for (int64_t i = 0; i < n[0]; ++i)
    for (int64_t j = 0; j < n[1]; ++j)
      for (int64_t k = 0; k < n[2]; ++k) f(i, j, k);
}

// A copy of an example's data: planes[channel][phase][extent 0][extent 1][extent 2], and the bytes read beyond the end.
struct CopyShape {
  int64_t extent[3], plane, size;
};

// The results of a phase in a band, along the axes: their number, their position from the band's first, and the element
// of the target.
struct BandPosition {
  int64_t begin[3], count[3], first[3], step[3];
  bool empty = false;

  int64_t windows() const { return count[0] * count[1] * count[2]; }
  int64_t start(const CopyShape& p) const { return (begin[0] * p.extent[1] + begin[1]) * p.extent[2] + begin[2]; }
  // From the first result to the end of the last one, in a copy.
  int64_t span(const CopyShape& p) const {
    return ((count[0] - 1) * p.extent[1] + count[1] - 1) * p.extent[2] + count[2];
  }
};

// The results that a tile computes.
struct SweepTile {
  int64_t first, last;  // examples
  int64_t group, band_at, row, last_row;
};

// Set by its constructor; all tiles read it.
class SweepPlan {
 public:
  SweepPlan(const Correlation& correlation, bool back, DType dtype);

  SweepTile tile(int64_t number) const;
  CopyShape copy_shape() const;
  BandPosition position_of(const Phase& phase, int64_t band_at) const;

  // The first element of the source, along an axis, that a copy contains for a phase.
  int64_t source_first(int a, int64_t phase, int64_t band_first) const {
    return back ? band_first - reach[a] : band_first * c.stride[a] + phase - c.pad[a];
  }
  int64_t source_step(int a) const { return back ? 1 : c.stride[a]; }
  int64_t source_extent(int a) const { return back ? c.counts[a] : c.extents[a]; }
  // In the forward direction only phases that the kernel reaches are copied: those of its first positions, after which
  // they repeat.
  int64_t period(int a) const { return c.stride[a] / std::gcd(c.stride[a], c.dilate[a]); }
  int64_t source_phases(int a) const { return back ? 1 : std::min(c.kernel[a], period(a)); }
  int64_t phase_at(int a, int64_t number) const { return back ? 0 : number * c.dilate[a] % c.stride[a]; }

  const Correlation c;
  const bool back;
  const int64_t item_bytes;
  const int64_t rows, channels;  // of the target, in a group; of the source
  // The results are first to first + n, counted in strides; each needs reach + 1 elements of the source.
  int64_t reach[3], first[3], n[3];
  int64_t phases = 1;
  int band_axis = 0;  // the axis along which a large example is computed in bands
  int64_t tiles = 1;
  bool written_out = false;  // whether windows are written out, since most sums of a copy would belong to none;
  int64_t at_once = 1;       // then those of so many examples are computed together

 private:
  void set_bands();
  void set_tiles();
  void set_written_out();
  int64_t length(int a) const { return a == band_axis ? band_ : n[a]; }

  int64_t band_ = 1, bands_ = 1, cuts_ = 1, cut_rows_ = 8, together_ = 1;
};

}  // namespace forerun
