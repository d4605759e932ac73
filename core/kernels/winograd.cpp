// A tile of 4 x 4 elements makes 2 x 2 results with 16 products instead of 36: tiles and kernels are transformed to values at 16 points,
// multiplied there, summed over the channels by multiply_tile, and the sums are transformed back. The columns are tiles, line by line.
#include "kernels/winograd.h"

#include <algorithm>

#include "kernels/lines.h"
#include "kernels/scratch.h"
#include "kernels/winograd_tiles.h"

namespace forerun {

namespace {

constexpr int64_t kMost = 112, kLeast = 32;  // columns at once
constexpr int64_t kKernels = 4096;           // that are transformed at once, at least

// The convolution of a source to a target that either direction is. Rows: channels of the target, in a group; channels: of the source.
struct Sweep {
  Correlation c;
  bool back = false;
  Field weight;
  int64_t rows = 0, channels = 0, panels = 0;
  int64_t from[2], to[2], pad[2];     // extents of the source and of the target
  int64_t row_step = 0, channel_step = 0;  // of the weight, in bytes

  void set(const Correlation& what, bool backwards, const Layout& w) {
    c = what, back = backwards, weight = Field(w);
    rows = back ? c.in : c.out, channels = back ? c.out : c.in, panels = up(rows, kTileRows);
    row_step = back ? weight.channel : weight.example, channel_step = back ? weight.example : weight.channel;
    for (int a = 0; a < 2; ++a) {
      from[a] = back ? c.counts[a + 1] : c.extents[a + 1], to[a] = back ? c.extents[a + 1] : c.counts[a + 1];
      pad[a] = back ? 2 - c.pad[a + 1] : c.pad[a + 1];
    }
  }
  // In bytes: an element of the kernel; back, the kernel is turned round.
  int64_t element(int64_t i, int64_t j) const { return (back ? 2 - i : i) * weight.axis[1] + (back ? 2 - j : j) * weight.axis[2]; }
  int64_t per_point() const { return panels * channels * kTileRows; }
};

// The weight to its points: [group][point][panel][channel][row of the panel].
class PointsKernel final : public Kernel {
 public:
  const char* name() const override { return "correlate_points"; }
  bool droppable() const override { return true; }
  int64_t tiles() const override { return s.c.groups * up(s.panels, at_once()); }
  bool copy_to(Op& op) const override { return op.copy(*this); }

  void run(Op& op, int64_t tile) override {
    const int64_t cuts = up(s.panels, at_once()), group = tile / cuts, first = tile % cuts * at_once();
    const char* w = operand_data(op, 0, s.weight.offset + group * s.c.out * s.weight.example);
    float* to = reinterpret_cast<float*>(operand_data(op, 1, offset)) + group * kPoints * s.per_point();
    for (int64_t panel = first, last = std::min(s.panels, first + at_once()); panel < last; ++panel)
      for (int64_t channel = 0; channel < s.channels; ++channel)
        transform(w + panel * kTileRows * s.row_step + channel * s.channel_step, std::min<int64_t>(kTileRows, s.rows - panel * kTileRows), to + (panel * s.channels + channel) * kTileRows);
  }

  Sweep s;
  int64_t offset = 0;

 private:
  int64_t at_once() const { return up(kKernels / kTileRows, s.channels); }

  // Kernels of as many rows as a panel has.
  void transform(const char* from, int64_t n, float* to) const {
    float w[9 * kTileRows] = {};
    if (n == kTileRows && s.weight.axis[2] == sizeof(float) && s.weight.axis[1] == 3 * sizeof(float))
      for (int64_t r = 0; r < kTileRows; r += 4) turn_four(from + r * s.row_step, s.row_step, 9, w + r, kTileRows);
    else
      for (int64_t k = 0; k < 9; ++k)
        for (int64_t r = 0; r < n; ++r) w[k * kTileRows + r] = element<float>(from, k / 3 * s.weight.axis[1] + k % 3 * s.weight.axis[2] + r * s.row_step);
    kernels_to_points(w, s.back, to, s.per_point());
  }
};

class WinogradKernel final : public Kernel {
 public:
  const char* name() const override { return s.back ? "correlate_back" : "correlate"; }
  bool droppable() const override { return true; }
  int64_t tiles() const override { return s.c.groups * blocks_; }
  bool copy_to(Op& op) const override { return op.copy(*this); }

  void plan() {
    strips_ = Strips(s.c.examples, s.to[0], s.to[1], kMost);
    const int64_t width = strips_.width;
    block_ = std::clamp<int64_t>(strips_.count * s.c.groups / kTiles, up(kLeast, width), std::max<int64_t>(1, kMost / width));
    auto filled = [&](int64_t strips) { return static_cast<double>(strips * width) / static_cast<double>(tile_columns<float>(strips * width)); };
    for (int64_t most = block_, fewer = most; 2 * fewer > most; --fewer)
      if (filled(fewer) > filled(block_) + 0.02) block_ = fewer;
    blocks_ = up(strips_.count, block_);
  }

  void run(Op& op, int64_t tile) override {
    const int64_t group = tile % s.c.groups, first = tile / s.c.groups * block_, n = std::min(block_, strips_.count - first);
    const int64_t columns = n * strips_.width, step = tile_columns<float>(columns), plane = s.channels * step + kVector, sums_plane = s.panels * kTileRows * step;
    Room room(strips_.width);
    float* points = reinterpret_cast<float*>(scratch(static_cast<size_t>(room.size() + kPoints * (plane + sums_plane) + kVector) * sizeof(float)));
    float* sums = points + kPoints * plane;
    room.set(sums + kPoints * sums_plane + kVector, strips_.width);
    for (int64_t channel = 0; channel < s.channels; ++channel) {
      if (columns < step)
        for (int p = 0; p < kPoints; ++p) std::fill_n(points + p * plane + (channel + 1) * step - kVector, kVector, 0.0F);
      to_points(op, source.offset + (group * s.channels + channel) * source.channel, first, n, room, points + channel * step, plane);
    }
    int64_t offsets[kTerms];
    for (int64_t t = 0; t < kTerms; ++t) offsets[t] = t * step;
    const float* w = reinterpret_cast<const float*>(operand_data(op, 2, points_offset)) + group * kPoints * s.per_point();
    for (int p = 0; p < kPoints; ++p, w += s.per_point())
      for (int64_t t = 0; t < s.channels; t += kTerms)
        for (int64_t i = 0; i < s.panels; ++i)
          multiply_tile(std::min(kTerms, s.channels - t), w + (i * s.channels + t) * kTileRows, points + p * plane + t * step, offsets, sums + p * sums_plane + i * kTileRows * step,
                        step, static_cast<int>(std::min<int64_t>(kTileRows, s.rows - i * kTileRows)), columns, t > 0);
    for (int64_t row = 0; row < s.rows; ++row)
      from_points(sums + row * step, sums_plane, first, n, room, operand_data(op, 3, target.offset + (group * s.rows + row) * target.channel));
    if (!room.all_zeros()) run_plainly(op, group, first, n);
  }

  Sweep s;
  Field source, target;  // x, y; or back: y, x
  int64_t points_offset = 0;

 private:
  // What a strip needs beside its points.
  struct Room {
    int64_t half;                                  // tiles of a strip, in full vectors
    float *sums[4], *line, *top, *bottom, *zeros;  // a line's sums have 4 half elements, a line 2 half + kVector, two results 2 half each
    int32_t *inside, *valid;                       // masks: elements of a line of the source that are inside it; and tiles of the strip

    explicit Room(int64_t width) : half(tile_columns<float>(width)) {}
    int64_t size() const { return 16 * half + 2 * (2 * half + kVector) + kVector + 5 * half; }
    void set(float* at, int64_t width) {
      for (float*& of : sums) of = at, at += 4 * half;
      line = at, at += 2 * half + kVector;
      inside = reinterpret_cast<int32_t*>(at), at += 2 * half + kVector;
      zeros = at, at += kVector;
      top = at, bottom = at + 2 * half, valid = reinterpret_cast<int32_t*>(at + 4 * half);
      std::fill_n(zeros, kVector, 0.0F);
      for (int64_t i = 0; i < half; ++i) valid[i] = i < width ? -1 : 0;
    }
    bool all_zeros() const { return std::all_of(zeros, zeros + kVector, [](float v) { return v == 0; }); }
  };

  // A channel's strips to their points. Strips that lie below one another have two lines in common.
  void to_points(Op& op, int64_t offset, int64_t first, int64_t n, Room& room, float* to, int64_t plane) const {
    for (int64_t i = 0, masked = -1; i < n; ++i, to += strips_.width) {
      Strips::At at = strips_.at(first + i);
      const Inside in(at.first - s.pad[1], 1, 2 * room.half + kVector, s.from[1]);
      if (at.first != masked)
        for (int64_t k = 0; k < 2 * room.half + kVector; ++k) room.inside[k] = k >= in.begin && k < in.end ? -1 : 0;
      masked = at.first;
      bool below = i > 0 && at.line > 0;
      if (below) std::swap(room.sums[0], room.sums[2]), std::swap(room.sums[1], room.sums[3]);
      for (int64_t k = below ? 2 : 0; k < 4; ++k)
        add_across(line(op, offset + at.example * source.example, at.line + k - s.pad[0], at.first - s.pad[1], in, room), room.inside, room.sums[k], room.half, room.half);
      const float* const four[4] = {room.sums[0], room.sums[1], room.sums[2], room.sums[3]};
      add_down(four, room.half, to, plane, strips_.width);
    }
  }

  // A line of the source from an element on: where it is, if its elements follow one another and what is read beside it is memory of the
  // source, too; or a copy.
  const float* line(Op& op, int64_t offset, int64_t at, int64_t first, const Inside& in, Room& room) const {
    constexpr int64_t size = sizeof(float);
    if (at < 0 || at >= s.from[0] || in.begin >= in.end) return std::fill_n(room.line, 2 * room.half + kVector, 0.0F), room.line;
    int64_t begin = offset + at * source.axis[1] + first * source.axis[2], end = begin + (2 * room.half + kVector) * size;
    if (source.axis[2] == size && begin >= 0 && end <= static_cast<int64_t>(op.access(0).storage->bytes)) return reinterpret_cast<const float*>(operand_data(op, 0, begin));
    gather(room.line + in.begin, operand_data(op, 0, begin + in.begin * source.axis[2]), source.axis[2], in.end - in.begin);
    return room.line;
  }

  // The results of a row's strips from the sums at their points.
  void from_points(const float* sums, int64_t plane, int64_t first, int64_t n, Room& room, char* to) const {
    for (int64_t i = 0; i < n; ++i, sums += strips_.width) {
      Strips::At at = strips_.at(first + i);
      add_back(sums, plane, room.valid, room.top, room.bottom, strips_.width, room.zeros);
      char* line = to + at.example * target.example + at.line * target.axis[1] + at.first * target.axis[2];
      int64_t step = target.axis[2] / static_cast<int64_t>(sizeof(float)), length = std::min(2 * strips_.width, s.to[1] - at.first);
      spread(reinterpret_cast<float*>(line), room.top, step, length);
      if (at.line + 1 < s.to[0]) spread(reinterpret_cast<float*>(line + target.axis[1]), room.bottom, step, length);
    }
  }

  // Strips with results that are infinite or no numbers: in the transforms these spread over tiles.
  void run_plainly(Op& op, int64_t group, int64_t first, int64_t n) const {
    for (int64_t number = first; number < first + n; ++number) {
      Strips::At at = strips_.at(number);
      for (int64_t line = at.line; line < std::min(at.line + 2, s.to[0]); ++line)
        for (int64_t column = at.first; column < std::min(at.first + 2 * strips_.width, s.to[1]); ++column)
          for (int64_t row = 0; row < s.rows; ++row) {
            int64_t place = target.offset + at.example * target.example + (group * s.rows + row) * target.channel + line * target.axis[1] + column * target.axis[2];
            *reinterpret_cast<float*>(operand_data(op, 3, place)) = result(op, group, at.example, row, line, column);
          }
    }
  }
  float result(Op& op, int64_t group, int64_t example, int64_t row, int64_t line, int64_t column) const {
    const char* from = operand_data(op, 0, source.offset + example * source.example + group * s.channels * source.channel);
    const char* w = operand_data(op, 1, s.weight.offset + group * s.c.out * s.weight.example + row * s.row_step);
    float sum = 0;
    for (int64_t channel = 0; channel < s.channels; ++channel)
      for (int64_t i = 0; i < 3; ++i)
        for (int64_t j = 0; j < 3; ++j) {
          int64_t u = line + i - s.pad[0], v = column + j - s.pad[1];
          bool inside = u >= 0 && v >= 0 && u < s.from[0] && v < s.from[1];
          float x = inside ? element<float>(from, channel * source.channel + u * source.axis[1] + v * source.axis[2]) : 0;
          sum += x * element<float>(w, channel * s.channel_step + s.element(i, j));
        }
    return sum;
  }

  // Set by plan().
  Strips strips_;  // of the target
  int64_t block_ = 1, blocks_ = 1;  // so many strips are computed at once
};

}  // namespace

bool winograd_takes(const Correlation& c, DType dtype, bool back) {
  bool plane = c.kernel[0] == 1 && c.extents[0] == 1 && c.pad[0] == 0 && c.kernel[1] == 3 && c.kernel[2] == 3;
  for (int a = 0; a < 3; ++a) plane = plane && c.stride[a] == 1 && c.dilate[a] == 1;
  if (!plane || dtype != DType::f32 || std::min(c.in, c.out) < 16) return false;
  const int64_t* to = back ? c.extents : c.counts;
  int64_t tiles = up(to[1], 2) * up(to[2], 2);
  return c.examples * tiles >= 2 * kLeast && 5 * to[1] * to[2] >= 12 * tiles;  // at least 0.6 of what is computed is wanted
}

int64_t winograd_points(const Correlation& what, bool back) {
  return what.groups * kPoints * up(back ? what.in : what.out, kTileRows) * kTileRows * (back ? what.out : what.in);
}

void build_winograd_points(Op& op, const Correlation& what, bool back, const Array& w, const Array& points) {
  op.add(w.storage(), Mode::read), op.add(points.storage(), points.write_mode());
  PointsKernel& k = op.emplace<PointsKernel>();
  k.s.set(what, back, w.layout), k.offset = points.layout.offset;
  op.cost = static_cast<uint32_t>(std::min<int64_t>(500 + winograd_points(what, back), 2'000'000'000));
}

void build_winograd(Op& op, const Correlation& what, bool back, const Array& source, const Array& w, const Array& points, const Array& target) {
  op.add(source.storage(), Mode::read), op.add(w.storage(), Mode::read), op.add(points.storage(), Mode::read), op.add(target.storage(), target.write_mode());
  WinogradKernel& k = op.emplace<WinogradKernel>();
  k.s.set(what, back, w.layout), k.points_offset = points.layout.offset, k.source = Field(source.layout), k.target = Field(target.layout);
  k.plan();
  op.cost = static_cast<uint32_t>(std::min(500 + what.flops() / 200, 2e9));
}

}  // namespace forerun
