// A tile of 4 x 4 elements yields 2 x 2 results with 16 products instead of 36: tiles and kernels are transformed to
// values at 16 points, multiplied there as matrices, tiles x channels and channels x rows, and the sums are transformed
// back. Data is copied channels last: then the transforms are the same for all channels, whatever the image's extents
// are.
#include "cpu/kernels/winograd/winograd.h"

#include <algorithm>

#include "cpu/kernels/conv/conv_layout.h"
#include "cpu/kernels/gemm/gemm.h"
#include "cpu/kernels/gemm/transpose.h"
#include "cpu/kernels/scratch.h"
#include "cpu/kernels/winograd/winograd_tiles.h"

namespace forerun {

namespace {

constexpr int64_t kMost = 112, kLeast = 32;  // tiles at once,
constexpr int64_t kBlockRoom = 1 << 19;      // and bytes of values at the points
constexpr int64_t kKernels = 4096;           // that are transformed at once, at least

// The convolution of a source to a target, in either direction. Rows: channels of the target, in a group; channels: of
// the source.
struct Sweep {
  Correlation c;
  bool back = false;
  ImageStrides weight;
  int64_t rows = 0, channels = 0;
  int64_t rows_step = 0, step = 0;         // rows and channels in full vectors
  int64_t from[2], to[2], pad[2];          // extents of the source and of the target
  int64_t row_step = 0, channel_step = 0;  // of the weight, in bytes

  void set(const Correlation& what, bool backwards, const Layout& w) {
    c = what, back = backwards, weight = ImageStrides(w);
    rows = back ? c.in : c.out, channels = back ? c.out : c.in, rows_step = tile_columns<float>(rows),
    step = tile_columns<float>(channels);
    row_step = back ? weight.channel : weight.example, channel_step = back ? weight.example : weight.channel;
    for (int a = 0; a < 2; ++a) {
      from[a] = back ? c.counts[a + 1] : c.extents[a + 1], to[a] = back ? c.extents[a + 1] : c.counts[a + 1];
      pad[a] = back ? 2 - c.pad[a + 1] : c.pad[a + 1];
    }
  }
  // In bytes: the offset of a kernel's element; for the gradient, the kernel is reversed.
  int64_t element(int64_t i, int64_t j) const {
    return (back ? 2 - i : i) * weight.axis[1] + (back ? 2 - j : j) * weight.axis[2];
  }
  int64_t per_point() const { return gemm_packed_size(channels, rows_step); }
};

// Transforms the weight to its points: [group][point], packed for gemm_packed(), rows in full vectors.
class PointsKernel final : public Kernel {
 public:
  const char* name() const override { return "correlate_points"; }
  bool droppable() const override { return true; }
  int64_t tiles() const override { return s.c.groups * ceil_div(s.rows_step, at_once()); }
  bool copy_to(Op& op) const override { return op.copy(*this); }

  void run(Op& op, int64_t tile) override {
    const int64_t cuts = ceil_div(s.rows_step, at_once()), group = tile / cuts, first = tile % cuts * at_once();
    const char* w = operand_data(op, 0, s.weight.offset + group * s.c.out * s.weight.example);
    float* to = reinterpret_cast<float*>(operand_data(op, 1, offset)) + group * kPoints * s.per_point();
    for (int64_t row = first, last = std::min(s.rows_step, first + at_once()); row < last; row += kTileRows)
      for (int64_t channel = 0; channel < s.channels; ++channel)
        transform(w + row * s.row_step + channel * s.channel_step, std::clamp<int64_t>(s.rows - row, 0, kTileRows),
                  to + gemm_packed_at(channel, row, s.channels));
  }

  Sweep s;
  int64_t offset = 0;

 private:
  int64_t at_once() const { return ceil_div(kKernels / kTileRows, s.channels) * kTileRows; }

  // Kernels for as many rows as a panel has.
  void transform(const char* from, int64_t n, float* to) const {
    float w[9 * kTileRows] = {};
    if (n == kTileRows && s.weight.axis[2] == sizeof(float) && s.weight.axis[1] == 3 * sizeof(float))
      transpose_in(from, s.row_step, kTileRows, 9, w, kTileRows);
    else
      for (int64_t k = 0; k < 9; ++k)
        for (int64_t r = 0; r < n; ++r)
          w[k * kTileRows + r] =
              element<float>(from, k / 3 * s.weight.axis[1] + k % 3 * s.weight.axis[2] + r * s.row_step);
    kernels_to_points(w, s.back, to, s.per_point());
  }
};

class WinogradKernel final : public Kernel {
 public:
  const char* name() const override { return s.back ? "conv_back" : "conv"; }
  bool droppable() const override { return true; }
  int64_t tiles() const override { return s.c.groups * blocks_; }
  bool copy_to(Op& op) const override { return op.copy(*this); }

  void plan() {
    strips_ = Strips(s.c.examples, s.to[0], s.to[1]);
    const int64_t width = strips_.width,
                  per_tile = kPoints * (s.step + s.rows_step) * static_cast<int64_t>(sizeof(float));
    const int64_t most = std::clamp(kBlockRoom / per_tile, kLeast, kMost);
    block_ = std::clamp<int64_t>(strips_.count * s.c.groups / kTiles, ceil_div(kLeast, width),
                                 std::max<int64_t>(1, most / width));
    auto filled = [&](int64_t strips) {
      return static_cast<double>(strips * width) / static_cast<double>(round_up(strips * width, kGemmRows));
    };
    for (int64_t largest = block_, fewer = largest; 2 * fewer > largest; --fewer)
      if (filled(fewer) > filled(block_) + 0.02) block_ = fewer;
    blocks_ = ceil_div(strips_.count, block_);
  }

  void run(Op& op, int64_t tile) override {
    const int64_t group = tile % s.c.groups, first = tile / s.c.groups * block_,
                  n = std::min(block_, strips_.count - first), width = strips_.width;
    const int64_t lines_size = StripLines::size(width, s.step), result_size = 2 * width * s.rows_step,
                  plane = n * width * s.step + kVector, sums_plane = n * width * s.rows_step + kVector;
    float* at = reinterpret_cast<float*>(scratch(
        static_cast<size_t>(lines_size + 2 * result_size + kPoints * (plane + sums_plane) + gemm_room(s.channels)) *
        sizeof(float)));
    float *results[2] = {at + lines_size, at + lines_size + result_size}, *points = results[1] + result_size,
          *sums = points + kPoints * plane, *room = sums + kPoints * sums_plane;
    StripLines lines(at, width, s.step);
    for (int64_t i = 0; i < n; ++i) {
      Strips::At strip = strips_.at(first + i);
      const char* from =
          operand_data(op, 0, source.offset + strip.example * source.example + group * s.channels * source.channel);
      lines.to_points(from, source, s.channels, strip, i == 0, s.pad, s.from, points + i * width * s.step, plane);
    }
    const float* w =
        reinterpret_cast<const float*>(operand_data(op, 2, points_offset)) + group * kPoints * s.per_point();
    for (int p = 0; p < kPoints; ++p)
      gemm_packed(n * width, s.rows_step, s.channels, MatrixView<float>{points + p * plane, s.step, 1},
                  w + p * s.per_point(), sums + p * sums_plane, s.rows_step, false, room);
    float zeros[kVector] = {};
    for (int64_t i = 0; i < n; ++i) {
      Strips::At strip = strips_.at(first + i);
      points_to_tiles(sums + i * width * s.rows_step, sums_plane, width, s.rows_step, results[0], results[1], zeros);
      char* to = operand_data(op, 3,
                              target.offset + strip.example * target.example + group * s.rows * target.channel +
                                  strip.first * target.axis[2]);
      for (int64_t k = 0; k < std::min<int64_t>(2, s.to[0] - strip.line); ++k)
        store(results[k], std::min(2 * width, s.to[1] - strip.first), to + (strip.line + k) * target.axis[1]);
    }
    if (!std::all_of(zeros, zeros + kVector, [](float v) { return v == 0; })) run_plainly(op, group, first, n);
  }

  Sweep s;
  ImageStrides source, target;  // x, y; or for the gradient y, x
  int64_t points_offset = 0;

 private:
  // n columns of results, [column][row], to a line of each row.
  void store(const float* from, int64_t n, char* to) const {
    constexpr int64_t size = sizeof(float);
    if (target.axis[2] == size && target.channel % size == 0)
      return transpose_out(from, s.rows_step, s.rows, n, reinterpret_cast<float*>(to), target.channel / size);
    for (int64_t row = 0; row < s.rows; ++row)
      for (int64_t k = 0; k < n; ++k)
        *reinterpret_cast<float*>(to + row * target.channel + k * target.axis[2]) = from[k * s.rows_step + row];
  }

  // Recomputes strips with results that are infinite or NaN: in the transforms these spread over tiles.
  void run_plainly(Op& op, int64_t group, int64_t first, int64_t n) const {
    for (int64_t number = first; number < first + n; ++number) {
      Strips::At at = strips_.at(number);
      for (int64_t line = at.line; line < std::min(at.line + 2, s.to[0]); ++line)
        for (int64_t column = at.first; column < std::min(at.first + 2 * strips_.width, s.to[1]); ++column)
          for (int64_t row = 0; row < s.rows; ++row) {
            int64_t place = target.offset + at.example * target.example + (group * s.rows + row) * target.channel +
                            line * target.axis[1] + column * target.axis[2];
            *reinterpret_cast<float*>(operand_data(op, 3, place)) = result(op, group, at.example, row, line, column);
          }
    }
  }
  float result(Op& op, int64_t group, int64_t example, int64_t row, int64_t line, int64_t column) const {
    const char* from =
        operand_data(op, 0, source.offset + example * source.example + group * s.channels * source.channel);
    const char* w = operand_data(op, 1, s.weight.offset + group * s.c.out * s.weight.example + row * s.row_step);
    float sum = 0;
    for (int64_t channel = 0; channel < s.channels; ++channel)
      for (int64_t i = 0; i < 3; ++i)
        for (int64_t j = 0; j < 3; ++j) {
          int64_t u = line + i - s.pad[0], v = column + j - s.pad[1];
          bool inside = u >= 0 && v >= 0 && u < s.from[0] && v < s.from[1];
          float x =
              inside ? element<float>(from, channel * source.channel + u * source.axis[1] + v * source.axis[2]) : 0;
          sum += x * element<float>(w, channel * s.channel_step + s.element(i, j));
        }
    return sum;
  }

  // Set by plan().
  Strips strips_;                   // of the target
  int64_t block_ = 1, blocks_ = 1;  // so many strips are computed at once
};

}  // namespace

bool winograd_takes(const Correlation& c, DType dtype, bool back) {
  bool plane = c.kernel[0] == 1 && c.extents[0] == 1 && c.pad[0] == 0 && c.kernel[1] == 3 && c.kernel[2] == 3;
  for (int a = 0; a < 3; ++a) plane = plane && c.stride[a] == 1 && c.dilate[a] == 1;
  if (!plane || dtype != DType::f32 || std::min(c.in, c.out) < 16) return false;
  const int64_t* to = back ? c.extents : c.counts;
  int64_t tiles = ceil_div(to[1], 2) * ceil_div(to[2], 2);
  return c.examples * tiles >= 2 * kLeast &&
         5 * to[1] * to[2] >= 12 * tiles;  // at least 0.6 of the computed values are used
}

int64_t winograd_points(const Correlation& what, bool back) {
  return what.groups * kPoints * gemm_packed_size(back ? what.out : what.in, back ? what.in : what.out);
}

void build_winograd_points(Op& op, const Correlation& what, bool back, const Array& w, const Array& points) {
  op.add(w.storage(), Mode::read), op.add(points.storage(), points.write_mode());
  PointsKernel& k = op.emplace<PointsKernel>();
  k.s.set(what, back, w.layout), k.offset = points.layout.offset;
  op.cost = static_cast<uint32_t>(std::min<int64_t>(500 + winograd_points(what, back), 2'000'000'000));
}

void build_winograd(Op& op, const Correlation& what, bool back, const Array& source, const Array& w,
                    const Array& points, const Array& target) {
  op.add(source.storage(), Mode::read), op.add(w.storage(), Mode::read), op.add(points.storage(), Mode::read),
      op.add(target.storage(), target.write_mode());
  WinogradKernel& k = op.emplace<WinogradKernel>();
  k.s.set(what, back, w.layout), k.points_offset = points.layout.offset, k.source = ImageStrides(source.layout),
                                 k.target = ImageStrides(target.layout);
  k.plan();
  op.cost = static_cast<uint32_t>(std::min(500 + what.flops() / 200, 2e9));
}

}  // namespace forerun
