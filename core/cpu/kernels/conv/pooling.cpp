#include "cpu/kernels/conv/pooling.h"

#include <algorithm>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include "base/simd/simd_target.h"
#include "cpu/kernels/conv/window_axes.h"
#include "device/op_spec.h"

namespace forerun {

namespace {

constexpr int64_t kTile = int64_t{1} << 16;  // elements of planes that make a tile, at least

// An integer for each of n windows.
template <class T, int n>
struct Numbers : Vector<T, n* static_cast<int>(sizeof(T))> {};
template <class T>
struct Numbers<T, 1> {
  using type = T;
};
template <class T, int n>
using Lanes = typename Numbers<T, n>::type;
template <class T>
using WindowIndex =
    std::conditional_t<sizeof(T) == 4, int32_t,
                       int64_t>;  // offsets from a window's first element; as wide as T: comparisons choose by lane

template <class T, int n>
FORERUN_EACH Lanes<T, n> load(const T* from) {
  return *reinterpret_cast<const Lanes<T, n>*>(from);
}
template <class T, int n>
FORERUN_EACH void store(T* to, Lanes<T, n> v) {
  *reinterpret_cast<Lanes<T, n>*>(to) = v;
}

// x[0], x[step], x[2 * step]...; x[n * step - 1] is the last element that may be read.
template <class T, int... i>
FORERUN_EACH Lanes<T, sizeof...(i)> every(const T* x, int64_t step, std::integer_sequence<int, i...>) {
  constexpr int n = sizeof...(i);
  if constexpr (n == 1)
    return *x;
  else if (step == 1)
    return load<T, n>(x);
  else if (step == 2)
    return __builtin_shufflevector(load<T, n>(x), load<T, n>(x + n), 2 * i...);
  else
    return Lanes<T, n>{x[i * step]...};
}
template <class T, int n>
FORERUN_EACH Lanes<T, n> every(const T* x, int64_t step) {
  return every(x, step, std::make_integer_sequence<int, n>());
}

// Calls f(the first element, the number of the first window) for each row of windows.
template <class F>
FORERUN_EACH void each_row(const Pooling& p, F f) {
  int64_t window = 0;
  for (int64_t plane = 0; plane < p.planes; ++plane)
    for (int64_t u = 0; u < p.counts[0]; ++u)
      for (int64_t v = 0; v < p.counts[1]; ++v, window += p.counts[2])
        f(plane * p.plane() + p.place(u * p.stride[0], v * p.stride[1], 0), window);
}

// Along the row of windows that starts at element `at`, calls f(an element, a window's number, how many windows remain,
// n) for n windows at once, of which some may be behind the row's end. If these, or the `last` elements after theirs,
// would lie outside the tile, calls f(..., 1) for one window.
template <int n, class F>
FORERUN_EACH void each(const Pooling& p, int64_t at, int64_t window, int64_t last, F f) {
  const bool pays = p.stride[2] <= 2 || 2 * p.counts[2] > n;  // else most lanes are loaded in vain
  const int64_t most = pays && last <= INT32_MAX ? p.planes * p.plane() - last - n * p.stride[2] : -1;
  for (int64_t w = 0, done; w < p.counts[2]; w += done) {
    const int64_t from = at + w * p.stride[2], left = p.counts[2] - w;
    if (from <= most && window + w + n <= p.planes * p.windows())
      f(from, window + w, left, std::integral_constant<int, n>()), done = n;
    else
      f(from, window + w, left, std::integral_constant<int, 1>()), done = 1;
  }
}

template <class T>
struct Forward {
  Pooling p;  // of a tile
  const T* x;
  T* y;

  // Line by line, as memory is read fastest so. Values written behind a row's end are replaced by the next rows.
  template <int bytes>
  FORERUN_EACH void run() const {
    each_row(p, [f = *this](int64_t corner, int64_t row) __attribute__((always_inline)) {
      for (int64_t i = 0; i < f.p.kernel[0]; ++i)
        for (int64_t j = 0; j < f.p.kernel[1]; ++j)
          each<bytes / sizeof(T)>(f.p, corner + f.p.place(i, j, 0), row, f.p.kernel[2] - 1,
                                  [&](int64_t at, int64_t window, int64_t, auto n) __attribute__((always_inline)) {
                                    f.template line<n>(f.x + at, f.y + window, i == 0 && j == 0);
                                  });
    });
  }

  // Combines a line of n windows with the results of the lines before.
  template <int n>
  FORERUN_EACH void line(const T* from, T* to, bool first) const {
    Lanes<T, n> a = first ? every<T, n>(from, p.stride[2]) : load<T, n>(to);
    for (int64_t k = first; k < p.kernel[2]; ++k) {
      Lanes<T, n> b = every<T, n>(from + k, p.stride[2]);
      if (p.largest)
        b = a != a ? a : b, a = a >= b ? a : b;
      else
        a += b;
    }
    store<T, n>(to, a);
  }
};

template <class T>
struct ToFirst {
  Pooling p;  // of a tile
  const T *g, *x, *y;
  T* to;

  template <int bytes>
  FORERUN_EACH void run() const {
    std::fill_n(to, p.planes * p.plane(), T{});
    each_row(p, [f = *this](int64_t corner, int64_t row) __attribute__((always_inline)) {
      const int64_t last = f.p.place(f.p.kernel[0] - 1, f.p.kernel[1] - 1, f.p.kernel[2] - 1);
      each<bytes / sizeof(T)>(f.p, corner, row, last,
                              [&](int64_t at, int64_t window, int64_t left, auto n)
                                  __attribute__((always_inline)) { f.template windows<n>(at, window, left); });
    });
  }

  template <int n>
  FORERUN_EACH void windows(int64_t at, int64_t window, int64_t left) const {
    if constexpr (n == 1) {
      to[at + first(x + at, y[window])] += g[window];
    } else {
      WindowIndex<T> places[n];
      store<WindowIndex<T>, n>(places, firsts<n>(x + at, load<T, n>(y + window)));
      for (int64_t w = 0; w < std::min<int64_t>(n, left); ++w) to[at + w * p.stride[2] + places[w]] += g[window + w];
    }
  }

  // The offset in a window of its first element that is not less than the largest; 0 if there is no such element.
  FORERUN_EACH int64_t first(const T* corner, T largest) const {
    for (int64_t i = 0; i < p.kernel[0]; ++i)
      for (int64_t j = 0; j < p.kernel[1]; ++j)
        for (int64_t k = 0; k < p.kernel[2]; ++k)
          if (!(corner[p.place(i, j, k)] < largest)) return p.place(i, j, k);
    return 0;
  }
  // The same for n windows; the last element is compared first.
  template <int n>
  FORERUN_EACH Lanes<WindowIndex<T>, n> firsts(const T* corners, Lanes<T, n> largest) const {
    Lanes<WindowIndex<T>, n> places{};
    for (int64_t i = p.kernel[0] - 1; i >= 0; --i)
      for (int64_t j = p.kernel[1] - 1; j >= 0; --j)
        for (int64_t k = p.kernel[2] - 1; k >= 0; --k) {
          const auto place = static_cast<WindowIndex<T>>(p.place(i, j, k));
          places = every<T, n>(corners + place, p.stride[2]) < largest ? places : place - Lanes<WindowIndex<T>, n>{};
        }
    return places;
  }
};

// If windows of a line overlap, sums are added in their order: the last element of one window is an earlier element of
// the next.
template <class T>
void to_all(const Pooling& p, const T* g, T* to) {
  std::fill_n(to, p.planes * p.plane(), T{});
  for (int64_t plane = 0; plane < p.planes; ++plane, to += p.plane())
    for (int64_t u = 0; u < p.counts[0]; ++u)
      for (int64_t v = 0; v < p.counts[1]; ++v, g += p.counts[2])
        for (int64_t i = 0; i < p.kernel[0]; ++i)
          for (int64_t j = 0; j < p.kernel[1]; ++j)
            for (int64_t k = p.kernel[2] - 1; k >= 0; --k) {
              T* at = to + p.place(u * p.stride[0] + i, v * p.stride[1] + j, k);
              for (int64_t w = 0; w < p.counts[2]; ++w) at[w * p.stride[2]] += g[w];
            }
}

class PoolKernel final : public Kernel {
 public:
  enum class Way { forward, to_first, to_all };

  const char* name() const override {
    return way == Way::forward ? "pool" : way == Way::to_first ? "pool_first" : "pool_all";
  }
  bool droppable() const override { return true; }
  int64_t tiles() const override { return (p.planes + per_tile() - 1) / per_tile(); }
  bool copy_to(Op& op) const override { return op.copy(*this); }

  void run(Op& op, int64_t tile) override { dtype == DType::f32 ? run_as<float>(op, tile) : run_as<double>(op, tile); }
  bool describe(Op&, OpSpec& spec) const override;

  Pooling p;
  DType dtype;
  Way way;
  int64_t offsets[4];  // of the operands, in bytes

 private:
  int64_t per_tile() const { return std::max<int64_t>(1, kTile / std::max<int64_t>(1, p.plane())); }

  template <class T>
  void run_as(Op& op, int64_t tile) const {
    const int64_t first = tile * per_tile(), n = first * p.plane(), m = first * p.windows();
    Pooling part = p;
    part.planes = std::min(p.planes - first, per_tile());
    auto operand = [&](int i) { return reinterpret_cast<T*>(operand_data(op, i, offsets[i])); };
    switch (way) {
      case Way::forward: return in_best_version(Forward<T>{part, operand(0) + n, operand(1) + m});
      case Way::to_first:
        return in_best_version(ToFirst<T>{part, operand(0) + m, operand(1) + n, operand(2) + m, operand(3) + n});
      case Way::to_all: return to_all(part, operand(0) + m, operand(1) + n);
    }
  }
};

bool PoolKernel::describe(Op&, OpSpec& spec) const {
  const int first = first_axis(p.extents, p.kernel);
  auto planes = [&](int i, const int64_t(&extents)[3]) {
    Dims shape{p.planes};
    for (int a = first; a < 3; ++a) shape.push_back(extents[a]);
    Layout all = Layout::dense(dtype, shape);
    all.offset = offsets[i];
    return all;
  };
  spec.kind = way == Way::forward ? "pool" : "pool_back", spec.name = name();
  const int inputs = way == Way::to_first ? 3 : 1;
  const int data = way == Way::forward ? 0 : 1;  // the input that does not have one element per window
  for (int i = 0; i < inputs; ++i) spec.input(i, planes(i, i == data ? p.extents : p.counts));
  spec.output(inputs, planes(inputs, way == Way::forward ? p.counts : p.extents));
  spec.set("largest", p.largest);
  set_axes(spec, first, {{"kernel", p.kernel}, {"stride", p.stride}});
  return true;
}

void build(Op& op, const Pooling& what, PoolKernel::Way way, std::initializer_list<const Array*> operands) {
  PoolKernel& k = op.emplace<PoolKernel>();
  k.p = what, k.way = way, k.dtype = (*operands.begin())->layout.dtype;
  int64_t elements = 0;
  int i = 0;
  for (const Array* a : operands) {
    bool last = i + 1 == static_cast<int>(operands.size());
    op.add(a->storage(), last ? a->write_mode() : Mode::read);
    k.offsets[i++] = a->layout.offset, elements += a->layout.size;
  }
  op.cost = static_cast<uint32_t>(std::min<int64_t>(200 + elements, INT32_MAX));
}

}  // namespace

void build_pool(Op& op, const Pooling& what, const Array& x, const Array& y) {
  build(op, what, PoolKernel::Way::forward, {&x, &y});
}
void build_pool_first(Op& op, const Pooling& what, const Array& g, const Array& x, const Array& y, const Array& to) {
  build(op, what, PoolKernel::Way::to_first, {&g, &x, &y, &to});
}
void build_pool_all(Op& op, const Pooling& what, const Array& g, const Array& to) {
  build(op, what, PoolKernel::Way::to_all, {&g, &to});
}

}  // namespace forerun
