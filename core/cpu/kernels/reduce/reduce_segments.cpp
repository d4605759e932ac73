#include "cpu/kernels/reduce/reduce_segments.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/rounding.h"

namespace forerun {

namespace {

class SegmentsKernel final : public Kernel, public AxisLines {
 public:
  const char* name() const override { return name_; }
  int64_t tiles() const override { return tiles_; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void prepare(Op& op) override {
    const char* starts = operand_data(op, 1, starts_offset);
    for (int64_t k = 0; k < segments; ++k)
      if (const int64_t start = start_of(starts, k); start < 0 || start >= n)
        throw Error(ErrorKind::index, std::string(name_) + ": index must be in [0, " + std::to_string(n) + "), got " +
                                          std::to_string(start));
  }
  void run(Op& op, int64_t tile) override {
    const char *in = operand_data(op, 0, in_offset), *starts = operand_data(op, 1, starts_offset);
    char* out = operand_data(op, 2, out_offset);
    const int64_t end = std::min(segments * product(outer), (tile + 1) * per_tile_);
    for (int64_t unit = tile * per_tile_; unit < end;) {
      const int64_t row = unit / segments, first = unit % segments, last = std::min(segments, first + end - unit);
      const char* from = in + offset_at(row, outer, outer_in);
      char* to = out + offset_at(row, outer, outer_out);
      for (int64_t k = first; k < last; ++k) reduce(starts, k, from, to + k * out_step);
      unit += last - first;
    }
  }
  void cut(int64_t elements) {
    const int64_t units = segments * product(outer), per_unit = elements / std::max<int64_t>(1, units);
    per_tile_ = std::max<int64_t>(1, kTileElements / std::max<int64_t>(1, per_unit));
    tiles_ = std::max<int64_t>(1, ceil_div(units, per_tile_));
  }

  const char* name_ = nullptr;
  Loop loop;
  size_t item = 0;
  int64_t in_offset = 0, starts_offset = 0, out_offset = 0, segments = 0, starts_step = 0;

 private:
  static constexpr int64_t kTileElements = int64_t{1} << 15;

  int64_t start_of(const char* starts, int64_t k) const {
    int64_t start;
    std::memcpy(&start, starts + k * starts_step, sizeof start);
    return start;
  }
  // The first element, and then the others combined with it, as NumPy does it.
  void reduce(const char* starts, int64_t k, const char* in, char* out) const {
    const int64_t start = start_of(starts, k), stop = k + 1 < segments ? start_of(starts, k + 1) : n;
    const char* from = in + start * in_step;
    std::memcpy(out, from, item);
    intptr_t rest = stop - start - 1, steps[3] = {0, in_step, 0};
    char* args[3] = {out, const_cast<char*>(from) + in_step, out};
    if (rest > 0) loop.function(args, &rest, steps, loop.data);
  }

  int64_t per_tile_ = 1, tiles_ = 1;  // segments of rows
};

}  // namespace

void build_reduce_segments(Op& op, const Combination& how, const Array& in, const Array& starts, int axis,
                           const Array& out) {
  add(op, in, Mode::read);
  add(op, starts, Mode::read);
  op.add(out.storage(), out.write_mode());
  op.cost = static_cast<uint32_t>(std::min<int64_t>(60 + in.layout.size / 2 + out.layout.size * 8, INT32_MAX));
  SegmentsKernel& k = op.emplace<SegmentsKernel>();
  k.name_ = how.name, k.loop = how.loop, k.item = item_size(in.layout.dtype);
  k.in_offset = in.layout.offset, k.starts_offset = starts.layout.offset, k.out_offset = out.layout.offset;
  k.segments = starts.layout.size, k.starts_step = starts.layout.strides[0];
  k.set(in.layout, out.layout, axis);
  k.cut(in.layout.size);
}

}  // namespace forerun
