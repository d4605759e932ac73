#include "kernels/pool.h"

#include <algorithm>
#include <initializer_list>
#include <type_traits>

#include "base/clones.h"

namespace forerun {

namespace {

constexpr int64_t kTile = int64_t{1} << 16;  // elements of planes that make a tile, at least

// y[i] = op(y[i], x[i * step]), or x[i * step] if it is the first.
template <class T, bool largest>
[[gnu::always_inline]] inline void combine_row(T* y, const T* x, int64_t step, int64_t n, bool first) {
  auto all = [&](auto step_of) __attribute__((always_inline)) {
    if (first)
      for (int64_t i = 0; i < n; ++i) y[i] = x[i * step_of];
    else if (largest)
      for (int64_t i = 0; i < n; ++i) y[i] = y[i] >= x[i * step_of] || y[i] != y[i] ? y[i] : x[i * step_of];
    else
      for (int64_t i = 0; i < n; ++i) y[i] += x[i * step_of];
  };
  if (step == 1) all(std::integral_constant<int64_t, 1>());
  else if (step == 2) all(std::integral_constant<int64_t, 2>());
  else all(step);
}

FORERUN_CLONES void combine(float* y, const float* x, int64_t step, int64_t n, bool first, bool largest) {
  largest ? combine_row<float, true>(y, x, step, n, first) : combine_row<float, false>(y, x, step, n, first);
}
FORERUN_CLONES void combine(double* y, const double* x, int64_t step, int64_t n, bool first, bool largest) {
  largest ? combine_row<double, true>(y, x, step, n, first) : combine_row<double, false>(y, x, step, n, first);
}

class PoolKernel final : public Kernel {
 public:
  enum class Way { forward, to_first, to_all };

  const char* name() const override { return way == Way::forward ? "pool" : way == Way::to_first ? "pool_first" : "pool_all"; }
  bool droppable() const override { return true; }
  int64_t tiles() const override { return (p.planes + per_tile() - 1) / per_tile(); }
  bool copy_to(Op& op) const override { return op.copy(*this); }

  void run(Op& op, int64_t tile) override { dtype == DType::f32 ? run_as<float>(op, tile) : run_as<double>(op, tile); }

  Pooling p;
  DType dtype;
  Way way;
  int64_t offsets[4];  // of the operands, in bytes

 private:
  int64_t plane() const { return p.extents[0] * p.extents[1] * p.extents[2]; }
  int64_t windows() const { return p.counts[0] * p.counts[1] * p.counts[2]; }
  int64_t per_tile() const { return std::max<int64_t>(1, kTile / std::max<int64_t>(1, plane())); }

  template <class T>
  T* operand(Op& op, int i) const {
    return reinterpret_cast<T*>(operand_data(op, i, offsets[i]));
  }

  template <class T>
  void run_as(Op& op, int64_t tile) const {
    int64_t n = plane(), m = windows();
    for (int64_t i = tile * per_tile(), end = std::min(p.planes, i + per_tile()); i < end; ++i) switch (way) {
        case Way::forward: pool(operand<T>(op, 0) + i * n, operand<T>(op, 1) + i * m); break;
        case Way::to_first: to_first(operand<T>(op, 0) + i * m, operand<T>(op, 1) + i * n, operand<T>(op, 2) + i * m, operand<T>(op, 3) + i * n); break;
        case Way::to_all: to_all(operand<T>(op, 0) + i * m, operand<T>(op, 1) + i * n); break;
      }
  }

  // f(the first element of a line of windows at a line of the kernel, the number of its first window, whether it is the first line)
  template <class F>
  void lines(F f) const {
    for (int64_t u = 0; u < p.counts[0]; ++u)
      for (int64_t v = 0; v < p.counts[1]; ++v)
        for (int64_t i = 0; i < p.kernel[0]; ++i)
          for (int64_t j = 0; j < p.kernel[1]; ++j)
            f(((u * p.stride[0] + i) * p.extents[1] + v * p.stride[1] + j) * p.extents[2], (u * p.counts[1] + v) * p.counts[2], i == 0 && j == 0);
  }

  template <class T>
  void pool(const T* x, T* y) const {
    lines([&](int64_t from, int64_t window, bool first) {
      for (int64_t k = 0; k < p.kernel[2]; ++k) combine(y + window, x + from + k, p.stride[2], p.counts[2], first && k == 0, p.largest);
    });
  }

  template <class T>
  void to_first(const T* g, const T* x, const T* y, T* to) const {
    std::fill_n(to, plane(), T{});
    for (int64_t u = 0; u < p.counts[0]; ++u)
      for (int64_t v = 0; v < p.counts[1]; ++v)
        for (int64_t w = 0; w < p.counts[2]; ++w, ++g, ++y) to[first_of(x, *y, u * p.stride[0], v * p.stride[1], w * p.stride[2])] += *g;
  }

  template <class T>
  int64_t first_of(const T* x, T largest, int64_t u, int64_t v, int64_t w) const {
    int64_t corner = (u * p.extents[1] + v) * p.extents[2] + w;
    for (int64_t i = 0; i < p.kernel[0]; ++i)
      for (int64_t j = 0; j < p.kernel[1]; ++j) {
        int64_t line = corner + (i * p.extents[1] + j) * p.extents[2];
        for (int64_t k = 0; k < p.kernel[2]; ++k)
          if (!(x[line + k] < largest)) return line + k;
      }
    return corner;
  }

  template <class T>
  void to_all(const T* g, T* to) const {
    std::fill_n(to, plane(), T{});
    lines([&](int64_t at, int64_t window, bool) {
      for (int64_t w = 0; w < p.counts[2]; ++w)
        for (int64_t k = 0; k < p.kernel[2]; ++k) to[at + w * p.stride[2] + k] += g[window + w];
    });
  }
};

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

void build_pool(Op& op, const Pooling& what, const Array& x, const Array& y) { build(op, what, PoolKernel::Way::forward, {&x, &y}); }
void build_pool_first(Op& op, const Pooling& what, const Array& g, const Array& x, const Array& y, const Array& to) {
  build(op, what, PoolKernel::Way::to_first, {&g, &x, &y, &to});
}
void build_pool_all(Op& op, const Pooling& what, const Array& g, const Array& to) { build(op, what, PoolKernel::Way::to_all, {&g, &to}); }

}  // namespace forerun
