#include "kernels/order.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/rounding.h"
#include "kernels/arg_columns.h"

namespace forerun {

namespace {

constexpr int64_t kTile = int64_t{1} << 15;  // elements that one worker takes at once, in whole lines

// Lines of `n` elements along one axis of the input; `make(line, values, out)` is called for each.
class LinesKernel : public Kernel {
 public:
  LinesKernel(const char* name, const Layout& in, int axis, const Layout& out) : name_(name), in_(in), axis_(axis), n_(in.shape[axis]), out_offset_(out.offset) {
    lines_ = n_ ? in.size / n_ : 0;
    per_tile_ = std::max<int64_t>(1, kTile / std::max<int64_t>(1, n_));
  }
  const char* name() const override { return name_; }
  int64_t tiles() const override { return std::max<int64_t>(1, ceil_div(lines_, per_tile_)); }
  bool droppable() const override { return true; }

 protected:
  // The elements of a line, one after the other: where they are, or copied to `room`.
  char* line(char* in, int64_t number, std::vector<char>& room, bool copied) const {
    char* from = in + in_.offset + offset_of(number, in_.strides);
    int64_t step = in_.strides[axis_], size = static_cast<int64_t>(item_size(in_.dtype));
    if (!copied && (step == size || n_ == 1)) return from;
    room.resize(static_cast<size_t>(n_ * size));
    gather(room.data(), from, step, size);
    return room.data();
  }
  void gather(char* to, const char* from, int64_t step, int64_t size) const {
    if (step == size) return void(std::memcpy(to, from, static_cast<size_t>(n_ * size)));
    for (int64_t i = 0; i < n_; ++i) std::memcpy(to + i * size, from + i * step, static_cast<size_t>(size));
  }
  // Elements before the first one of a line in a dense array of the input's shape, and from one of its elements to the next.
  int64_t dense_offset(int64_t number) const { return number / after() * after() * n_ + number % after(); }
  int64_t after() const {
    int64_t n = 1;
    for (int i = axis_ + 1; i < in_.ndim(); ++i) n *= in_.shape[i];
    return n;
  }
  template <class F>
  void each_line(int64_t tile, F f) const {
    for (int64_t i = tile * per_tile_, end = std::min(lines_, i + per_tile_); i < end; ++i) f(i);
  }
  static void check(int status) {
    if (status < 0) throw Error(ErrorKind::memory, "sort: scratch memory must be available");
  }

  const char* name_;
  Layout in_;
  int axis_;
  int64_t n_, lines_, per_tile_, out_offset_;

 private:
  int64_t offset_of(int64_t number, const Dims& strides) const {
    int64_t offset = 0;
    for (int i = in_.ndim() - 1; i >= 0; --i) {
      if (i == axis_) continue;
      offset += number % in_.shape[i] * strides[i];
      number /= in_.shape[i];
    }
    return offset;
  }
};

char* data_of(Op& op, int i) { return static_cast<Buffer*>(op.access(i).storage)->data(); }

class ArgKernel final : public LinesKernel {
 public:
  ArgKernel(const char* name, ArgFunction function, const Layout& in, int axis, const Layout& out) : LinesKernel(name, in, axis, out), function_(function) {}
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void run(Op& op, int64_t tile) override {
    std::vector<char> room;
    auto* out = reinterpret_cast<int64_t*>(data_of(op, 1) + out_offset_);
    each_line(tile, [&](int64_t i) {
      intptr_t position = 0;
      check(function_(line(data_of(op, 0), i, room, false), n_, &position, nullptr));
      out[i] = position;
    });
  }

 private:
  ArgFunction function_;
};

class SortKernel final : public LinesKernel {
 public:
  SortKernel(SortFunction function, const Layout& in, int axis, const Layout& out) : LinesKernel("sort", in, axis, out), function_(function) {}
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void run(Op& op, int64_t tile) override {
    std::vector<char> room;
    int64_t size = static_cast<int64_t>(item_size(in_.dtype)), step = after();
    each_line(tile, [&](int64_t i) {
      char* out = data_of(op, 1) + out_offset_ + dense_offset(i) * size;
      char* values = line(data_of(op, 0), i, room, true);
      check(function_(values, n_, nullptr));
      for (int64_t k = 0; step > 1 && k < n_; ++k) std::memcpy(out + k * step * size, values + k * size, static_cast<size_t>(size));
      if (step == 1) std::memcpy(out, values, static_cast<size_t>(n_ * size));
    });
  }

 private:
  SortFunction function_;
};

// Positions that a fast function has sorted, where equal values stand in any order: brings those of each run into order.
template <class T>
void order_equals(const char* values, intptr_t* positions, int64_t n) {
  const T* v = reinterpret_cast<const T*>(values);
  auto same = [v](intptr_t i, intptr_t j) { return v[i] == v[j] || (v[i] != v[i] && v[j] != v[j]); };
  for (int64_t i = 0; i < n;) {
    int64_t end = i + 1;
    while (end < n && same(positions[i], positions[end])) ++end;
    if (end - i > 1) std::sort(positions + i, positions + end);
    i = end;
  }
}

void order_equals(DType t, const char* values, intptr_t* positions, int64_t n) {
  switch (t) {
    case DType::i32: return order_equals<int32_t>(values, positions, n);
    case DType::u32: return order_equals<uint32_t>(values, positions, n);
    case DType::i64: return order_equals<int64_t>(values, positions, n);
    case DType::u64: return order_equals<uint64_t>(values, positions, n);
    case DType::f32: return order_equals<float>(values, positions, n);
    default: return order_equals<double>(values, positions, n);
  }
}

class ArgSortKernel final : public LinesKernel {
 public:
  ArgSortKernel(ArgSortFunction function, const Layout& in, int axis, const Layout& out) : LinesKernel("argsort", in, axis, out), function_(function) {}
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void run(Op& op, int64_t tile) override {
    std::vector<char> room;
    std::vector<intptr_t> positions(static_cast<size_t>(n_));
    auto* out = reinterpret_cast<int64_t*>(data_of(op, 1) + out_offset_);
    int64_t step = after();
    each_line(tile, [&](int64_t i) {
      std::iota(positions.begin(), positions.end(), 0);
      char* values = line(data_of(op, 0), i, room, false);
      check(function_(values, positions.data(), n_, nullptr));
      if (!sorts_stably(in_.dtype)) order_equals(in_.dtype, values, positions.data(), n_);
      int64_t* at = out + dense_offset(i);
      for (int64_t k = 0; k < n_; ++k) at[k * step] = positions[static_cast<size_t>(k)];
    });
  }

 private:
  ArgSortFunction function_;
};

uint32_t cost_of(int64_t elements, int64_t line, int64_t each) {
  int64_t rounds = 1;
  for (int64_t n = line; n > 16; n /= 4) ++rounds;
  return static_cast<uint32_t>(std::min<int64_t>(100 + elements * each * rounds / 2, INT32_MAX));
}

void add_both(Op& op, const Array& in, const Array& out) {
  add(op, in, Mode::read);
  op.add(out.storage(), Mode::write);
}

}  // namespace

bool sorts_stably(DType t) { return !(is_integer(t) && item_size(t) >= 4) && t != DType::f32 && t != DType::f64; }

void build_arg(Op& op, const char* name, ArgFunction function, bool largest, const Array& in, int axis, const Array& out) {
  add_both(op, in, out);
  if (build_arg_columns(op, name, largest, in, axis, out)) return;
  op.cost = cost_of(in.layout.size, 1, 1);
  op.emplace<ArgKernel>(name, function, in.layout, axis, out.layout);
}

void build_sort(Op& op, SortFunction function, const Array& in, int axis, const Array& out) {
  add_both(op, in, out);
  op.cost = cost_of(in.layout.size, in.layout.shape[axis], 4);
  op.emplace<SortKernel>(function, in.layout, axis, out.layout);
}

void build_argsort(Op& op, ArgSortFunction function, const Array& in, int axis, const Array& out) {
  add_both(op, in, out);
  op.cost = cost_of(in.layout.size, in.layout.shape[axis], 8);
  op.emplace<ArgSortKernel>(function, in.layout, axis, out.layout);
}

}  // namespace forerun
