#include "cpu/kernels/conv/conv_plan.h"

#include <algorithm>

#include "cpu/kernels/conv/conv_layout.h"
#include "cpu/kernels/gemm/microkernel.h"

namespace forerun {

namespace {

constexpr int64_t kAtOnce = 48;  // windows of several examples, if they are written out

}  // namespace

SweepPlan::SweepPlan(const Correlation& correlation, bool back, DType dtype)
    : c(correlation), back(back), item_bytes(static_cast<int64_t>(item_size(dtype))), rows(back ? c.in : c.out),
      channels(back ? c.out : c.in) {
  for (int a = 0; a < 3; ++a) {
    reach[a] = (c.kernel[a] - 1) * c.dilate[a] / c.stride[a];
    first[a] = back ? c.pad[a] / c.stride[a] : 0;
    n[a] = back ? (c.extents[a] - 1 + c.pad[a]) / c.stride[a] + 1 - first[a] : c.counts[a];
    phases *= source_phases(a);
  }
  set_bands();
  set_tiles();
  set_written_out();
}

void SweepPlan::set_bands() {
  while (band_axis < 2 && n[band_axis] == 1) ++band_axis;
  int64_t line = channels * phases * item_bytes;  // bytes of the copy for one step along that axis
  for (int a = 0; a < 3; ++a) line *= a == band_axis ? 1 : n[a] + reach[a];
  band_ = std::clamp<int64_t>(kRoom / line - reach[band_axis], 1, n[band_axis]);
  bands_ = ceil_div(n[band_axis], band_);
  band_ = ceil_div(n[band_axis], bands_);
}

void SweepPlan::set_tiles() {
  int64_t places = c.examples * c.groups * bands_;
  if (bands_ == 1)
    together_ = std::clamp<int64_t>(static_cast<int64_t>(kTileFlops * static_cast<double>(places) / c.flops()), 1,
                                    std::max<int64_t>(1, c.examples / kTiles));
  if (places < kTiles) cuts_ = std::clamp<int64_t>(ceil_div(kTiles, places), 1, ceil_div(rows, kTileRows));
  if (c.flops() < kTileFlops) cuts_ = 1;
  cut_rows_ = round_up(ceil_div(rows, cuts_), kTileRows);
  cuts_ = ceil_div(rows, cut_rows_);
  tiles = ceil_div(c.examples, together_) * c.groups * bands_ * cuts_;
}

void SweepPlan::set_written_out() {
  int64_t windows = 1, span = 0;
  for (int a = 0; a < 3; ++a) windows *= n[a], span = span * (n[a] + reach[a]) + n[a] - 1;
  written_out = bands_ == 1 && cuts_ == 1 && rows >= 2 * kTileRows && 3 * windows < 2 * tile_columns<float>(span + 1);
  if (written_out) at_once = std::min(ceil_div(kAtOnce, windows), together_);
}

SweepTile SweepPlan::tile(int64_t number) const {
  const int64_t cut = number % cuts_ * cut_rows_, band = number / cuts_ % bands_, piece = number / cuts_ / bands_,
                example = piece / c.groups * together_;
  return {example,
          std::min(c.examples, example + together_),
          piece % c.groups,
          band * band_,
          cut,
          std::min(rows, cut + cut_rows_)};
}

CopyShape SweepPlan::copy_shape() const {
  CopyShape p{};
  for (int a = 0; a < 3; ++a) p.extent[a] = length(a) + reach[a];
  if (band_axis < 2) {  // zeros at the end of a line may be those at the beginning of the next
    int64_t before = p.extent[2], after = p.extent[2];
    for (int64_t phase = 0; phase < source_phases(2); ++phase) {
      Inside in(source_first(2, phase_at(2, phase), first[2]), source_step(2), p.extent[2], source_extent(2));
      before = std::min(before, in.begin), after = std::min(after, p.extent[2] - in.end);
    }
    p.extent[2] -= std::min({before, after, p.extent[2] - 1});
  }
  p.plane = p.extent[0] * p.extent[1] * p.extent[2];
  p.size = channels * phases * p.plane;
  return p;
}

BandPosition SweepPlan::position_of(const Phase& phase, int64_t band_at) const {
  BandPosition at;
  for (int a = 0; a < 3; ++a) {
    const bool banded = a == band_axis;
    const int64_t low = first[a] + (banded ? band_at : 0), results = banded ? std::min(band_, n[a] - band_at) : n[a];
    at.step[a] = back ? c.stride[a] : 1;
    at.first[a] = back ? low * c.stride[a] + phase[a] - c.pad[a] : low;
    Inside in(at.first[a], at.step[a], results, back ? c.extents[a] : c.counts[a]);
    at.begin[a] = in.begin, at.count[a] = in.end - in.begin, at.first[a] += in.begin * at.step[a];
    at.empty = at.empty || at.count[a] <= 0;
  }
  return at;
}

}  // namespace forerun
