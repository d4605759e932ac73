#include "cpu/kernels/reduce/arg_columns.h"

#include <algorithm>
#include <cstring>

#include "base/rounding.h"
#include "base/simd/simd_target.h"
#include "cpu/kernels/tile_elements.h"
#include "cpu/loops/item.h"
#include "device/brief_spec.h"
#include "device/op_spec.h"

namespace forerun {

namespace {

constexpr int64_t kColumns = 512;  // whose best elements are kept at once, in the L1 cache

// For some columns of `rows` elements, `pitch` bytes apart: the position of the best element, which is the first of
// equal ones or, as in NumPy, the first NaN.
template <class T, bool largest>
struct Columns {
  const char* in;
  int64_t pitch, rows, columns;
  int64_t* out;

  template <int>
  FORERUN_EACH void run() const {
    T best[kColumns];
    std::memcpy(best, in, static_cast<size_t>(columns) * sizeof(T));
    std::fill_n(out, columns, 0);
    for (int64_t r = 1; r < rows; ++r) {
      const T* row = reinterpret_cast<const T*>(in + r * pitch);
      for (int64_t i = 0; i < columns; ++i) {
        const T value = row[i], before = best[i];
        const bool better = (largest ? value > before : value < before) | ((value != value) & (before == before));
        best[i] = better ? value : before;
        out[i] = better ? r : out[i];
      }
    }
  }
};

template <class T>
class ArgColumnsKernel final : public Kernel {
 public:
  ArgColumnsKernel(const char* name, bool largest, const Layout& in, int axis, int64_t columns, const Layout& out)
      : name_(name), largest_(largest), in_(in), axis_(axis), columns_(columns), across_(ceil_div(columns, kColumns)),
        out_offset_(out.offset) {
    blocks_ = across_ * (in.size / (columns * in.shape[axis]));
    per_tile_ = std::max<int64_t>(1, kSlowTileElements / (in.shape[axis] * std::min(columns, kColumns)));
  }
  const char* name() const override { return name_; }
  int64_t tiles() const override { return ceil_div(blocks_, per_tile_); }
  bool droppable() const override { return true; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  bool describe(Op&, OpSpec& spec) const override {
    return describe_arg(spec, largest_, in_, axis_, out_offset_), true;
  }
  bool describe_briefly(BriefSpec& brief) const override {
    return describe_arg(brief, largest_, in_, axis_, out_offset_), true;
  }
  void run(Op& op, int64_t tile) override {
    for (int64_t i = tile * per_tile_, end = std::min(blocks_, i + per_tile_); i < end; ++i)
      block(op, i / across_, i % across_ * kColumns);
  }

 private:
  // `part`: the number of the matrix, counted over the axes before this one.
  void block(Op& op, int64_t part, int64_t first) const {
    const int64_t offset =
        in_.offset + offset_at(part, in_.shape, in_.strides, axis_) + first * static_cast<int64_t>(sizeof(T));
    const char* from = operand_data(op, 0, offset);
    auto* to = reinterpret_cast<int64_t*>(operand_data(op, 1, out_offset_)) + part * columns_ + first;
    const int64_t n = std::min(kColumns, columns_ - first);
    if (largest_)
      in_best_version(Columns<T, true>{from, in_.strides[axis_], in_.shape[axis_], n, to});
    else
      in_best_version(Columns<T, false>{from, in_.strides[axis_], in_.shape[axis_], n, to});
  }

  const char* name_;
  bool largest_;
  Layout in_;
  int axis_;
  int64_t columns_, across_, blocks_ = 0, per_tile_ = 1, out_offset_;
};

}  // namespace

void describe_arg(OpSpec& spec, bool largest, const Layout& in, int axis, int64_t out_offset) {
  Layout out = Layout::dense(DType::i64, without(in.shape, axis));
  out.offset = out_offset;
  spec.kind = "argreduce", spec.name = largest ? "argmax" : "argmin";
  spec.input(0, in), spec.output(1, out);
  spec.set("axis", int64_t{axis});
}
void describe_arg(BriefSpec& brief, bool largest, const Layout& in, int axis, int64_t out_offset) {
  brief.put("argreduce"), brief.put(largest, axis), brief.put(in), brief.put(out_offset);
}

bool build_arg_columns(Op& op, const char* name, bool largest, const Array& in, int axis, const Array& out) {
  const Layout& l = in.layout;
  int64_t columns = 1;
  for (int i = l.ndim() - 1; i > axis; --i) {
    if (l.shape[i] != 1 && l.strides[i] != columns * static_cast<int64_t>(item_size(l.dtype))) return false;
    columns *= l.shape[i];
  }
  if (columns == 1 || l.size == 0) return false;
  return with_real(l.dtype, [&]<class T>(T) {
    op.emplace<ArgColumnsKernel<T>>(name, largest, l, axis, columns, out.layout);
    op.cost = static_cast<uint32_t>(std::min<int64_t>(100 + l.nbytes() / 8, INT32_MAX));
  });
}

}  // namespace forerun
