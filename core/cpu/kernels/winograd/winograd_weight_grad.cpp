// The gradient of the weight of a 3 x 3 convolution by Winograd's method, F(3 x 3, 2 x 2): 2 x 2 elements of y are used
// as a kernel, and 4 x 4 of x yield 3 x 3 results with 16 products instead of 36. Data and results are copied channels
// last; multiply_tile sums over the tiles.
#include <algorithm>

#include "cpu/kernels/conv/conv_layout.h"
#include "cpu/kernels/gemm/transpose.h"
#include "cpu/kernels/scratch.h"
#include "cpu/kernels/winograd/winograd_tiles.h"
#include "cpu/kernels/winograd/winograd_weight_grad.h"

namespace forerun {

namespace {

constexpr int64_t kSumsRoom = 1 << 19;   // bytes of sums
constexpr int64_t kBlockRoom = 1 << 18;  // of values at the points
constexpr int64_t kBlock = 64;           // tiles that are multiplied at once, at most

class WinogradWeightKernel final : public Kernel {
 public:
  const char* name() const override { return "conv_weight"; }
  bool droppable() const override { return true; }
  int64_t tiles() const override { return parts * c.groups * cuts_; }
  bool copy_to(Op& op) const override { return op.copy(*this); }

  void plan() {
    step_ = tile_columns<float>(c.in);
    const int64_t per_panel = kPoints * kTileRows * step_ * static_cast<int64_t>(sizeof(float));
    cuts_ = ceil_div(ceil_div(c.out, kTileRows), std::max<int64_t>(1, kSumsRoom / per_panel));
    cut_rows_ = round_up(ceil_div(c.out, cuts_), kTileRows), cuts_ = ceil_div(c.out, cut_rows_);
    strips_ = Strips(c.examples, c.counts[1], c.counts[2]);
    parts = std::clamp<int64_t>(ceil_div(kTiles / 2, c.groups * cuts_), 1, strips_.count);
    const int64_t per_tile = kPoints * (step_ + cut_rows_) * static_cast<int64_t>(sizeof(float));
    block_ = std::max<int64_t>(1, std::min(kBlock, kBlockRoom / per_tile) / strips_.width);
  }

  void run(Op& op, int64_t tile) override {
    const int64_t cut = tile % cuts_, group = tile / cuts_ % c.groups, part = tile / cuts_ / c.groups;
    const int64_t row = cut * cut_rows_, rows = std::min(cut_rows_, c.out - row), panels = ceil_div(rows, kTileRows);
    const int64_t first = strips_.count * part / parts, last = strips_.count * (part + 1) / parts;
    const int64_t points_plane = block_ * strips_.width * step_,
                  rows_plane = panels * block_ * strips_.width * kTileRows, sums_plane = panels * kTileRows * step_;
    const int64_t y_step = panels * kTileRows, y_line = 2 * strips_.width * y_step,
                  lines_size = StripLines::size(strips_.width, step_);
    const int64_t pad[2] = {c.pad[1], c.pad[2]}, extents[2] = {c.extents[1], c.extents[2]};
    float* at = reinterpret_cast<float*>(scratch(
        static_cast<size_t>(lines_size + 2 * y_line + kPoints * (points_plane + rows_plane + sums_plane) + 9 * step_) *
        sizeof(float)));
    float *top = at + lines_size, *bottom = top + y_line, *points = bottom + y_line,
          *factors = points + kPoints * points_plane, *sums = factors + kPoints * rows_plane;
    StripLines lines(at, strips_.width, step_);
    std::fill_n(top, 2 * y_line, 0.0F), std::fill_n(sums, kPoints * sums_plane, 0.0F);
    int64_t offsets[kBlock];
    for (int64_t t = 0; t < kBlock; ++t) offsets[t] = t * step_;
    const char* from = operand_data(op, 1, x.offset + group * c.in * x.channel);
    const char* y_from = operand_data(op, 0, y.offset + (group * c.out + row) * y.channel);
    for (int64_t begin = first; begin < last; begin += block_) {
      int64_t n = std::min(block_, last - begin), terms = n * strips_.width;
      for (int64_t i = 0; i < n; ++i) {
        Strips::At s = strips_.at(begin + i);
        lines.to_points(from + s.example * x.example, x, c.in, s, i == 0, pad, extents,
                        points + i * strips_.width * step_, points_plane);
        for (int64_t k = 0; k < 2; ++k)
          transpose_line(y_from + s.example * y.example, y, rows, s.line + k, s.first, c.counts[1], c.counts[2],
                         2 * strips_.width, k ? bottom : top, y_step);
        for (int64_t t = 0; t < strips_.width; ++t)
          for (int64_t panel = 0; panel < panels; ++panel)
            rows_to_points(top + 2 * t * y_step + panel * kTileRows, bottom + 2 * t * y_step + panel * kTileRows,
                           y_step, factors + (panel * terms + i * strips_.width + t) * kTileRows, rows_plane);
      }
      for (int p = 0; p < kPoints; ++p)
        for (int64_t panel = 0; panel < panels; ++panel)
          multiply_tile(terms, factors + p * rows_plane + panel * terms * kTileRows, points + p * points_plane, offsets,
                        sums + p * sums_plane + panel * kTileRows * step_, step_,
                        static_cast<int>(std::min<int64_t>(kTileRows, rows - panel * kTileRows)), c.in, true);
    }
    float* kernels = sums + kPoints * sums_plane;
    float* to = reinterpret_cast<float*>(operand_data(op, 2, sums_offset)) +
                ((part * c.groups + group) * c.out + row) * c.in * 9;
    for (int64_t i = 0; i < rows; ++i) {
      points_to_kernels(sums + i * step_, sums_plane, kernels, step_);
      bool finite = true;
      for (int k = 0; k < 9; ++k) finite &= all_finite(kernels + k * step_, c.in);
      if (finite) {
        transpose_out(kernels, step_, c.in, 9, to, 9), to += c.in * 9;
        continue;
      }
      for (int64_t channel = 0; channel < c.in; ++channel)
        for (int k = 0; k < 9; ++k)
          *to++ = sum(y_from + i * y.channel, from + channel * x.channel, k / 3, k % 3, first, last);
    }
  }

  Correlation c;
  ImageStrides y, x;
  int64_t sums_offset = 0;
  int64_t parts = 1;  // of the strips

 private:
  // Computes an element of the weight's gradient term by term: in the transforms, infinities and NaN spread over tiles.
  float sum(const char* ys, const char* xs, int64_t i, int64_t j, int64_t first, int64_t last) const {
    float found = 0;
    for (int64_t number = first; number < last; ++number) {
      Strips::At s = strips_.at(number);
      for (int64_t line = s.line; line < std::min(s.line + 2, c.counts[1]); ++line)
        for (int64_t column = s.first; column < std::min(s.first + 2 * strips_.width, c.counts[2]); ++column) {
          int64_t u = line + i - c.pad[1], v = column + j - c.pad[2];
          if (u < 0 || v < 0 || u >= c.extents[1] || v >= c.extents[2]) continue;
          found += element<float>(ys, s.example * y.example + line * y.axis[1] + column * y.axis[2]) *
                   element<float>(xs, s.example * x.example + u * x.axis[1] + v * x.axis[2]);
        }
    }
    return found;
  }

  // Set by plan().
  int64_t step_ = 16, cuts_ = 1, cut_rows_ = kTileRows;  // step_: channels of x, in full vectors; rows: channels of y
  Strips strips_;                                        // of y
  int64_t block_ = 1;                                    // so many strips are computed at once
};

}  // namespace

int64_t winograd_parts(const Correlation& what) {
  WinogradWeightKernel k;
  k.c = what, k.plan();
  return k.parts;
}

void build_winograd_weight(Op& op, const Correlation& what, const Array& y, const Array& x, const Array& sums) {
  op.add(y.storage(), Mode::read), op.add(x.storage(), Mode::read), op.add(sums.storage(), sums.write_mode());
  WinogradWeightKernel& k = op.emplace<WinogradWeightKernel>();
  k.c = what, k.y = ImageStrides(y.layout), k.x = ImageStrides(x.layout), k.sums_offset = sums.layout.offset;
  k.plan();
  op.cost = static_cast<uint32_t>(std::min(500 + what.flops() / 200, 2e9));
}

}  // namespace forerun
