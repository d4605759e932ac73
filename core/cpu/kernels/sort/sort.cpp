#include "cpu/kernels/sort/sort.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/rounding.h"
#include "cpu/kernels/reduce/arg_columns.h"
#include "cpu/kernels/sort/radix_sort.h"
#include "cpu/kernels/tile_elements.h"
#include "cpu/loops/item.h"
#include "device/brief_spec.h"
#include "device/op_spec.h"

namespace forerun {

namespace {

constexpr int64_t kBeside = 8;  // adjacent lines that are copied together

// Lines of `n` elements along one axis of the input.
class LinesKernel : public Kernel {
 public:
  LinesKernel(const char* name, const Layout& in, int axis, const Layout& out)
      : name_(name), in_(in), axis_(axis), n_(in.shape[axis]), out_offset_(out.offset),
        other_shape_(without(in.shape, axis)), other_strides_(without(in.strides, axis)) {
    lines_ = n_ ? in.size / n_ : 0;
    per_tile_ = std::max<int64_t>(1, kSlowTileElements / std::max<int64_t>(1, n_));
  }
  const char* name() const override { return name_; }
  int64_t tiles() const override { return std::max<int64_t>(1, ceil_div(lines_, per_tile_)); }
  bool droppable() const override { return true; }

 protected:
  // The elements of a line, contiguous: in place, or copied to `room`.
  char* line(char* in, int64_t number, std::vector<char>& room) const {
    char* from = in + in_.offset + start_of(number);
    int64_t step = in_.strides[axis_], size = static_cast<int64_t>(item_size(in_.dtype));
    if (step == size || n_ == 1) return from;
    room.resize(static_cast<size_t>(n_ * size));
    gather(room.data(), from, step, size);
    return room.data();
  }
  void gather(char* to, const char* from, int64_t step, int64_t size) const {
    if (step == size) return void(std::memcpy(to, from, static_cast<size_t>(n_ * size)));
    for (int64_t i = 0; i < n_; ++i) std::memcpy(to + i * size, from + i * step, static_cast<size_t>(size));
  }
  // The offset of a line's first element in a dense array of the input's shape, and the distance between its elements.
  int64_t dense_offset(int64_t number) const { return number / after() * after() * n_ + number % after(); }
  int64_t after() const {
    int64_t n = 1;
    for (int i = axis_ + 1; i < in_.ndim(); ++i) n *= in_.shape[i];
    return n;
  }
  // The distance in bytes from the array's first element to that of a line.
  int64_t start_of(int64_t number) const { return offset_at(number, other_shape_, other_strides_); }
  // Describes an op of this kind whose result is a dense array of the input's shape.
  bool describe_as(const char* kind, OpSpec& spec, DType t) const {
    Layout out = Layout::dense(t, in_.shape);
    out.offset = out_offset_;
    spec.kind = kind, spec.name = name_;
    spec.input(0, in_), spec.output(1, out);
    spec.set("axis", int64_t{axis_});
    return true;
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
  Dims other_shape_, other_strides_;  // of the other axes, which number the lines
};

char* data_of(Op& op, int i) { return static_cast<Buffer*>(op.access(i).storage)->data(); }

class ArgKernel final : public LinesKernel {
 public:
  ArgKernel(const char* name, ArgFunction function, bool largest, const Layout& in, int axis, const Layout& out)
      : LinesKernel(name, in, axis, out), function_(function), largest_(largest) {}
  bool copy_to(Op& op) const override { return op.copy(*this); }
  bool describe(Op&, OpSpec& spec) const override {
    return describe_arg(spec, largest_, in_, axis_, out_offset_), true;
  }
  bool describe_briefly(BriefSpec& brief) const override {
    return describe_arg(brief, largest_, in_, axis_, out_offset_), true;
  }
  void run(Op& op, int64_t tile) override {
    std::vector<char> room;
    auto* out = reinterpret_cast<int64_t*>(data_of(op, 1) + out_offset_);
    each_line(tile, [&](int64_t i) {
      intptr_t position = 0;
      check(function_(line(data_of(op, 0), i, room), n_, &position, nullptr));
      out[i] = position;
    });
  }

 private:
  ArgFunction function_;
  bool largest_;
};

class SortKernel final : public LinesKernel {
 public:
  SortKernel(SortFunction function, const Layout& in, int axis, const Layout& out)
      : LinesKernel("sort", in, axis, out), function_(function) {
    if (after() > 1) per_tile_ = round_up(per_tile_, kBeside);
  }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  bool describe(Op&, OpSpec& spec) const override { return describe_as("sort", spec, in_.dtype); }
  void run(Op& op, int64_t tile) override {
    std::vector<char> room;
    char* out = data_of(op, 1) + out_offset_;
    if (after() > 1) return sort_beside(data_of(op, 0) + in_.offset, out, tile, room);
    each_line(tile, [&](int64_t i) { sort_line(line(data_of(op, 0), i, room), out + dense_offset(i) * item()); });
  }

 private:
  int64_t item() const { return static_cast<int64_t>(item_size(in_.dtype)); }
  void sort_line(const char* values, char* to) const {
    if (sort_by_counting(in_.dtype, values, to, n_)) return;
    if (values != to) std::memcpy(to, values, static_cast<size_t>(n_ * item()));
    check(function_(to, n_, nullptr));
  }
  // Adjacent lines are read and written row by row: a row has elements of all of them.
  void sort_beside(const char* in, char* out, int64_t tile, std::vector<char>& room) const {
    const int64_t last = std::min(lines_, (tile + 1) * per_tile_), size = item();
    room.resize(static_cast<size_t>(kBeside * n_ * size));
    for (int64_t i = tile * per_tile_, count; i < last; i += count) {
      count = std::min({kBeside, last - i, after() - i % after()});
      copy_lines(in, i, count, true, room.data());
      for (int64_t k = 0; k < count; ++k) sort_line(room.data() + k * n_ * size, room.data() + k * n_ * size);
      copy_lines(out + dense_offset(i) * size, i, count, false, room.data());
    }
  }
  // Copies `count` lines from number `i` on between the array and `room`, where they are contiguous.
  void copy_lines(const char* array, int64_t i, int64_t count, bool reads, char* room) const {
    int64_t starts[kBeside], step = reads ? in_.strides[axis_] : after() * item();
    for (int64_t k = 0; k < count; ++k) starts[k] = reads ? start_of(i + k) : k * item();
    bool dense = true;
    for (int64_t k = 1; k < count; ++k) dense = dense && starts[k] == starts[0] + k * item();
    with_item(item_size(in_.dtype), [&]<class T>(T) {
      constexpr int64_t kSize = sizeof(T);
      auto copy = [&](auto start_of_line, auto lines) {
        for (int64_t row = 0; row < n_; ++row)
          for (int64_t k = 0; k < lines; ++k) {
            char *there = const_cast<char*>(array) + row * step + start_of_line(k),
                 *here = room + (k * n_ + row) * kSize;
            reads ? std::memcpy(here, there, sizeof(T)) : std::memcpy(there, here, sizeof(T));
          }
      };
      if (dense && count == kBeside)  // nearly always: with constants known to the compiler
        copy([first = starts[0]](int64_t k) { return first + k * kSize; }, std::integral_constant<int64_t, kBeside>{});
      else
        copy([&](int64_t k) { return starts[k]; }, count);
    });
  }

  SortFunction function_;
};

// Sorts the positions in each run of equal values, which a fast function has left in any order.
template <class T>
void order_equals(const char* values, intptr_t* positions, int64_t n) {
  const T* v = reinterpret_cast<const T*>(values);
  int64_t first = 0;  // of the run
  T of_run = v[positions[0]];
  for (int64_t i = 1; i <= n; ++i) {
    const T value = i < n ? v[positions[i]] : of_run;
    if (i < n && (value == of_run || (value != value && of_run != of_run))) continue;
    if (i - first > 1) std::sort(positions + first, positions + i);
    first = i, of_run = value;
  }
}

class ArgSortKernel final : public LinesKernel {
 public:
  ArgSortKernel(ArgSortFunction function, Equals equals, const Layout& in, int axis, const Layout& out)
      : LinesKernel("argsort", in, axis, out), function_(function), equals_(equals) {}
  bool copy_to(Op& op) const override { return op.copy(*this); }
  bool describe(Op&, OpSpec& spec) const override { return describe_as("argsort", spec, DType::i64); }
  void run(Op& op, int64_t tile) override {
    std::vector<char> room;
    auto* out = reinterpret_cast<int64_t*>(data_of(op, 1) + out_offset_);
    const int64_t step = after();
    static_assert(sizeof(intptr_t) == sizeof(int64_t));
    std::vector<intptr_t> positions(step > 1 ? static_cast<size_t>(n_) : 0);
    each_line(tile, [&](int64_t i) {
      int64_t* at = out + dense_offset(i);
      intptr_t* found = step > 1 ? positions.data() : reinterpret_cast<intptr_t*>(at);
      sort_line(line(data_of(op, 0), i, room), found);
      for (int64_t k = 0; step > 1 && k < n_; ++k) at[k * step] = found[k];
    });
  }

 private:
  void sort_line(char* values, intptr_t* to) const {
    const bool in_order = equals_ == Equals::in_order;
    if (in_order && argsort_by_digits(in_.dtype, values, to, n_)) return;
    std::iota(to, to + n_, 0);
    check(function_(values, to, n_, nullptr));
    if (in_order && !sorts_stably(in_.dtype))
      with_real(in_.dtype, [&]<class T>(T) { order_equals<T>(values, to, n_); });
  }

  ArgSortFunction function_;
  Equals equals_;
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

void build_arg(Op& op, const char* name, ArgFunction function, bool largest, const Array& in, int axis,
               const Array& out) {
  add_both(op, in, out);
  if (build_arg_columns(op, name, largest, in, axis, out)) return;
  op.cost = cost_of(in.layout.size, 1, 1);
  op.emplace<ArgKernel>(name, function, largest, in.layout, axis, out.layout);
}

void build_sort(Op& op, SortFunction function, const Array& in, int axis, const Array& out) {
  add_both(op, in, out);
  op.cost = cost_of(in.layout.size, in.layout.shape[axis], 4);
  op.emplace<SortKernel>(function, in.layout, axis, out.layout);
}

void build_argsort(Op& op, ArgSortFunction function, Equals equals, const Array& in, int axis, const Array& out) {
  add_both(op, in, out);
  op.cost = cost_of(in.layout.size, in.layout.shape[axis], 8);
  op.emplace<ArgSortKernel>(function, equals, in.layout, axis, out.layout);
}

}  // namespace forerun
