// Convolutions, pooling, recurrent layers and products of random shapes, compared with plain loops: operands and
// results are close to the ends of their memory. `test_conv_kernels [cases]`.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/simd/simd_target.h"
#include "cpu/kernels/conv/conv.h"
#include "cpu/kernels/conv/conv_weight_grad.h"
#include "cpu/kernels/conv/pooling.h"
#include "cpu/kernels/gemm/gemm.h"
#include "cpu/kernels/rnn/rnn.h"
#include "cpu/kernels/winograd/winograd.h"
#include "cpu/kernels/winograd/winograd_weight_grad.h"
#include "cpu/threads.h"
#include "program.h"

using namespace forerun;
using namespace forerun::test;

namespace {

std::mt19937 generator(7);
int taken = 0;  // convolutions by Winograd's method
int64_t below(int64_t n) { return static_cast<int64_t>(generator() % static_cast<uint64_t>(n)); }
MemoryBudget* budget() { return Engine::get().devices[0].budget.get(); }

template <class T>
constexpr DType dtype_of = sizeof(T) == 4 ? DType::f32 : DType::f64;

template <class T>
T* data_of(const Array& a) {
  return reinterpret_cast<T*>(a.storage()->data());
}

// An array of random numbers between -1 and 1.
template <class T>
Array random_array(const Dims& shape) {
  Array a = Array::make(dtype_of<T>, shape, budget());
  check(a.storage()->take(), "there is memory");
  for (int64_t i = 0; i < a.layout.size; ++i)
    data_of<T>(a)[i] = static_cast<T>(static_cast<double>(below(2001) - 1000) / 1000);
  return a;
}

template <class F>
void issue(F build) {
  Engine& engine = Engine::get();
  Op* op = engine.make_op();
  op->queue = engine.devices[0].compute.get(), op->budget = budget();
  build(*op);
  engine.issue(op);
}

template <class T>
void same(const char* what, const Array& a, const std::vector<double>& expected) {
  wait_for(*a.storage());
  check(!a.storage()->failure, what);
  double most = 1, error = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    most = std::max(most, std::abs(expected[i]));
    error = std::max(error, std::abs(expected[i] - static_cast<double>(data_of<T>(a)[i])));
  }
  check(error <= most * (sizeof(T) == 4 ? 3e-5 : 1e-12), std::string(what) + ": off by " + std::to_string(error));
}

Dims field(int64_t examples, int64_t channels, const int64_t (&extents)[3]) {
  return {examples, channels, extents[0], extents[1], extents[2]};
}

// Mostly convolutions for which Winograd's method is used.
Correlation of_three_by_three() {
  Correlation c;
  c.groups = 1 + below(2), c.in = 16 + below(below(4) ? 10 : 180), c.out = 16 + below(10),
  c.kernel[1] = c.kernel[2] = 3;
  for (int a = 1; a < 3; ++a)
    c.pad[a] = below(4), c.extents[a] = 3 + below(a == 2 && below(6) == 0 ? 300 : 12),
    c.counts[a] = c.extents[a] + 2 * c.pad[a] - 2;
  c.examples = 1 + 256 / c.windows();
  return c;
}

Correlation of_any() {
  Correlation c;
  c.examples = 1 + below(3), c.groups = 1 + below(2), c.in = 1 + below(below(4) ? 5 : 40), c.out = 1 + below(20);
  if (below(5) == 0) c.examples = 40;
  for (int a = 0; a < 3; ++a) {
    if (a == 0 && below(3)) continue;
    c.kernel[a] = 1 + below(3), c.stride[a] = 1 + below(3), c.dilate[a] = 1 + below(2), c.pad[a] = below(3);
    c.extents[a] = (c.kernel[a] - 1) * c.dilate[a] + 1 + below(a == 2 && below(6) == 0 ? 300 : 7);
    c.counts[a] = (c.extents[a] + 2 * c.pad[a] - (c.kernel[a] - 1) * c.dilate[a] - 1) / c.stride[a] + 1;
  }
  return c;
}

template <class T>
void conv() {
  Correlation c = below(2) ? of_any() : of_three_by_three();
  if (c.flops() > (kSanitized ? 3e6 : 3e7)) return conv<T>();
  Dims weight{c.groups * c.out, c.in, c.kernel[0], c.kernel[1], c.kernel[2]};
  Array x = random_array<T>(field(c.examples, c.groups * c.in, c.extents)), w = random_array<T>(weight),
        y = random_array<T>(field(c.examples, c.groups * c.out, c.counts));
  Array to_y = Array::make(dtype_of<T>, y.layout.shape, budget()),
        to_x = Array::make(dtype_of<T>, x.layout.shape, budget());
  int64_t parts = conv_weight_parts(c, dtype_of<T>);
  Array to_w = Array::make(dtype_of<T>, {parts, weight[0], weight[1], weight[2] * weight[3] * weight[4]}, budget());
  issue([&](Op& op) { build_conv(op, c, x, w, to_y); });
  issue([&](Op& op) { build_conv_back(op, c, y, w, to_x); });
  issue([&](Op& op) { build_conv_weight(op, c, y, x, to_w); });
  auto size = [](const Array& a) { return static_cast<size_t>(a.layout.size); };
  std::vector<double> ys(size(y)), xs(size(x)), ws(size(w));
  for (int64_t e = 0; e < c.examples; ++e)
    for (int64_t o = 0; o < c.groups * c.out; ++o)
      for (int64_t p = 0; p < c.windows(); ++p)
        for (int64_t i = 0; i < c.in; ++i)
          for (int64_t k = 0; k < c.elements(); ++k) {
            int64_t window[3] = {p / c.counts[2] / c.counts[1], p / c.counts[2] % c.counts[1], p % c.counts[2]};
            int64_t place[3] = {k / c.kernel[2] / c.kernel[1], k / c.kernel[2] % c.kernel[1], k % c.kernel[2]}, at = 0;
            bool inside = true;
            for (int a = 0; a < 3; ++a) {
              int64_t u = window[a] * c.stride[a] + place[a] * c.dilate[a] - c.pad[a];
              inside = inside && u >= 0 && u < c.extents[a];
              at = at * c.extents[a] + u;
            }
            if (!inside) continue;
            size_t ix = static_cast<size_t>(
                (e * c.groups * c.in + o / c.out * c.in + i) * c.extents[0] * c.extents[1] * c.extents[2] + at);
            size_t iw = static_cast<size_t>((o * c.in + i) * c.elements() + k),
                   iy = static_cast<size_t>((e * c.groups * c.out + o) * c.windows() + p);
            double vx = static_cast<double>(data_of<T>(x)[ix]), vw = static_cast<double>(data_of<T>(w)[iw]),
                   vy = static_cast<double>(data_of<T>(y)[iy]);
            ys[iy] += vx * vw, xs[ix] += vy * vw, ws[iw] += vx * vy;
          }
  same<T>("conv", to_y, ys);
  for (bool back : {false, true}) {
    if (!winograd_takes(c, dtype_of<T>, back)) continue;
    Array points = Array::make(dtype_of<T>, {winograd_points(c, back)}, budget()),
          to = Array::make(dtype_of<T>, (back ? x : y).layout.shape, budget());
    issue([&](Op& op) { build_winograd_points(op, c, back, w, points); });
    issue([&](Op& op) { build_winograd(op, c, back, back ? y : x, w, points, to); });
    same<T>("winograd", to, back ? xs : ys);
    ++taken;
  }
  same<T>("conv_back", to_x, xs);
  auto total = [&](const char* what, const Array& sums) {
    wait_for(*sums.storage());
    for (int64_t i = w.layout.size; i < sums.layout.size; ++i)
      data_of<T>(sums)[i % w.layout.size] += data_of<T>(sums)[i];
    same<T>(what, sums, ws);
  };
  total("conv_weight", to_w);
  if (winograd_takes(c, dtype_of<T>, false)) {
    Array sums = Array::make(dtype_of<T>, {winograd_parts(c), w.layout.size}, budget());
    issue([&](Op& op) { build_winograd_weight(op, c, y, x, sums); });
    total("winograd_weight", sums);
  }
}

template <class T>
void pool() {
  Pooling p;
  p.planes = 1 + below(4), p.largest = below(2);
  for (int a = 0; a < 3; ++a) {
    p.kernel[a] = 1 + below(3), p.stride[a] = 1 + below(3),
    p.extents[a] = p.kernel[a] + below(a == 2 && below(3) == 0 ? 90 : 9);
    p.counts[a] = (p.extents[a] - p.kernel[a]) / p.stride[a] + 1;
  }
  Dims data{p.planes, p.extents[0], p.extents[1], p.extents[2]},
      windows{p.planes, p.counts[0], p.counts[1], p.counts[2]};
  Array x = random_array<T>(data), g = random_array<T>(windows), y = Array::make(dtype_of<T>, windows, budget()),
        to = Array::make(dtype_of<T>, data, budget());
  issue([&](Op& op) { build_pool(op, p, x, y); });
  issue([&](Op& op) { p.largest ? build_pool_first(op, p, g, x, y, to) : build_pool_all(op, p, g, to); });
  std::vector<double> ys(static_cast<size_t>(y.layout.size)), xs(static_cast<size_t>(x.layout.size));
  size_t n = 0;
  for (int64_t plane = 0; plane < p.planes; ++plane)
    for (int64_t u = 0; u < p.counts[0]; ++u)
      for (int64_t v = 0; v < p.counts[1]; ++v)
        for (int64_t w = 0; w < p.counts[2]; ++w, ++n) {
          double total = p.largest ? -INFINITY : 0, gradient = static_cast<double>(data_of<T>(g)[n]);
          size_t first = 0;
          for (int64_t k = 0; k < p.kernel[0] * p.kernel[1] * p.kernel[2]; ++k) {
            int64_t i = u * p.stride[0] + k / p.kernel[2] / p.kernel[1],
                    j = v * p.stride[1] + k / p.kernel[2] % p.kernel[1], l = w * p.stride[2] + k % p.kernel[2];
            auto at = static_cast<size_t>(((plane * p.extents[0] + i) * p.extents[1] + j) * p.extents[2] + l);
            double value = static_cast<double>(data_of<T>(x)[at]);
            if (!p.largest)
              total += value, xs[at] += gradient;
            else if (value > total)
              total = value, first = at;
          }
          ys[n] = total;
          if (p.largest) xs[first] += gradient;
        }
  same<T>("pool", y, ys);
  same<T>("pool_back", to, xs);
}

// The rules step by step in double precision; their gradients by differences are checked in Python.
template <class T>
void rnn() {
  Recurrence r;
  r.rule = static_cast<Rule>(below(4)), r.reversed = below(2), r.steps = 1 + below(5), r.batch = 1 + below(40),
  r.units = 1 + below(60);
  int64_t n = r.units, gates = r.gates() * n;
  bool lstm = r.rule == Rule::lstm;
  Dims outputs{r.steps, r.batch, n}, states{r.batch, n};
  auto made = [](const Dims& shape) { return Array::make(dtype_of<T>, shape, budget()); };
  Array x = random_array<T>({r.steps, r.batch, gates}), h = random_array<T>(states), c = random_array<T>(states),
        w = random_array<T>({gates, n}), b = random_array<T>({gates});
  Array y = made(outputs), cells = made(outputs), kept = made({r.steps, r.batch, std::max<int64_t>(1, r.kept()) * n});
  Array gy = random_array<T>(outputs), gc = random_array<T>(states), gx = made({r.steps, r.batch, gates}),
        gh = made(states), gc0 = made(states), gu = made({r.steps, r.batch, gates});
  const Array *cell = lstm ? &cells : nullptr, *saved = r.kept() ? &kept : nullptr;
  const bool from_zeros = below(3) == 0;
  const Array *h0 = from_zeros ? nullptr : &h, *c0 = from_zeros || !lstm ? nullptr : &c;
  Array u = made({rnn_packed_size(r, false)}), u_back = made({rnn_packed_size(r, true)});
  issue([&](Op& op) { build_rnn_pack(op, r, false, w, u); });
  issue([&](Op& op) { build_rnn_pack(op, r, true, w, u_back); });
  issue([&](Op& op) { build_rnn(op, r, {&x, h0, c0, &u, &b, &y, cell, saved}); });
  issue([&](Op& op) {
    build_rnn_back(op, r,
                   {&gy, lstm ? &gc : nullptr, h0, c0, &u_back, &y, cell, saved, &gx, h0 ? &gh : nullptr,
                    c0 ? &gc0 : nullptr, r.rule == Rule::gru ? &gu : nullptr});
  });
  auto value = [](const Array& a, int64_t i) { return static_cast<double>(data_of<T>(a)[i]); };
  auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  std::vector<double> ys(static_cast<size_t>(y.layout.size)), now(static_cast<size_t>(h.layout.size)),
      cell_now(now.size());
  for (size_t i = 0; i < now.size(); ++i)
    now[i] = h0 ? value(h, static_cast<int64_t>(i)) : 0, cell_now[i] = c0 ? value(c, static_cast<int64_t>(i)) : 0;
  for (int64_t i = 0; i < r.steps; ++i) {
    int64_t t = r.reversed ? r.steps - 1 - i : i;
    std::vector<double> before = now;
    for (int64_t row = 0; row < r.batch; ++row)
      for (int64_t k = 0; k < n; ++k) {
        double u[4], in[4];
        for (int64_t g = 0; g < r.gates(); ++g) {
          u[g] = value(b, g * n + k), in[g] = value(x, (t * r.batch + row) * gates + g * n + k);
          for (int64_t j = 0; j < n; ++j)
            u[g] += before[static_cast<size_t>(row * n + j)] * value(w, (g * n + k) * n + j);
        }
        auto at = static_cast<size_t>(row * n + k);
        if (lstm) {
          cell_now[at] = sigmoid(in[1] + u[1]) * cell_now[at] + sigmoid(in[0] + u[0]) * std::tanh(in[2] + u[2]);
          now[at] = sigmoid(in[3] + u[3]) * std::tanh(cell_now[at]);
        } else if (r.rule == Rule::gru) {
          double fresh = std::tanh(in[2] + sigmoid(in[0] + u[0]) * u[2]);
          now[at] = fresh + sigmoid(in[1] + u[1]) * (before[at] - fresh);
        } else {
          now[at] = r.rule == Rule::tanh ? std::tanh(in[0] + u[0]) : std::max(0.0, in[0] + u[0]);
        }
        ys[static_cast<size_t>((t * r.batch + row) * n + k)] = now[at];
      }
  }
  same<T>("rnn", y, ys);
  wait_for(*gx.storage());
  check(!gx.storage()->failure, "rnn_back");
}

// A matrix of small integers, whose sums of products are exact, with steps of either order and sign, at the end of its
// memory.
template <class T>
struct Matrix {
  std::vector<T> room;
  MatrixView<T> view;
  Matrix(int64_t rows, int64_t columns) {
    const int64_t kind = below(6), gap = kind == 4 ? 1 + below(3) : 1;
    const bool across = kind == 1 || kind == 5;
    int64_t row_step = across ? gap : columns * gap + (kind == 2 ? below(40) : 0),
            column_step = across ? rows * gap : gap;
    room.resize(static_cast<size_t>((rows - 1) * row_step + (columns - 1) * column_step + 1));
    for (T& x : room) x = static_cast<T>(below(17) - 8);
    view = {room.data(), row_step, column_step};
    if (kind == 3) view = {room.data() + room.size() - 1, -row_step, -column_step};
  }
  T at(int64_t i, int64_t j) const { return view.data[i * view.row_step + j * view.column_step]; }
};

template <class T>
void product() {
  auto extent = [](int64_t most) { return 1 + (below(3) ? below(most) : below(8) * 8 + 7); };
  const int64_t rows = extent(70), columns = extent(below(4) ? 120 : 900), terms = extent(below(4) ? 90 : 900),
                step = columns + below(2) * below(20);
  Matrix<T> a(rows, terms), b(terms, columns);
  const T outside = 12345;
  std::vector<T> c(static_cast<size_t>((rows - 1) * step + columns), outside), twice = c;
  gemm<T>(rows, columns, terms, a.view, b.view, c.data(), step);
  std::vector<T> packed(static_cast<size_t>(gemm_packed_size(terms, columns))),
      room(static_cast<size_t>(gemm_room(terms)));
  gemm_pack<T>(terms, columns, b.view, packed.data());
  for (bool add : {false, true})
    gemm_packed<T>(rows, columns, terms, a.view, packed.data(), twice.data(), step, add, room.data());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < step && i * step + j < static_cast<int64_t>(c.size()); ++j) {
      T sum = 0;
      for (int64_t k = 0; k < terms && j < columns; ++k) sum += a.at(i, k) * b.at(k, j);
      auto at = static_cast<size_t>(i * step + j);
      check(c[at] == (j < columns ? sum : outside), "product");
      check(twice[at] == (j < columns ? 2 * sum : outside), "product with a packed matrix, twice");
    }
}

// The bits depend on the operands alone: not on the block that is computed, nor on the CPU's vectors.
template <class T>
void same_product(const std::vector<TileVersion>& versions) {
  const int64_t rows = 1 + below(40), columns = 1 + below(120), terms = 1 + below(1000);
  std::vector<T> a(static_cast<size_t>(rows * terms)), b(static_cast<size_t>(terms * columns)),
      c(static_cast<size_t>(rows * columns)), part(c.size());
  for (auto* all : {&a, &b})
    for (T& x : *all) x = static_cast<T>(static_cast<double>(below(2001) - 1000) / 1000);
  gemm<T>(rows, columns, terms, {a.data(), terms, 1}, {b.data(), columns, 1}, c.data(), columns);
  const TileVersion before = tile_version;
  for (TileVersion version : versions) {
    tile_version = version;
    int64_t i = below(rows), j = below(columns), m = 1 + below(rows - i), n = 1 + below(columns - j);
    gemm<T>(m, n, terms, {a.data() + i * terms, terms, 1}, {b.data() + j, columns, 1}, part.data(), n);
    for (int64_t r = 0; r < m; ++r)
      check(std::equal(&part[static_cast<size_t>(r * n)], &part[static_cast<size_t>(r * n)] + n,
                       &c[static_cast<size_t>((i + r) * columns + j)]),
            "a block of a product has the same bits");
  }
  tile_version = before;
}

}  // namespace

int main(int argc, char** argv) {
  int cases = argc > 1 ? std::atoi(argv[1]) : kSanitized || emulated() ? 60 : 400;
  use_cpu_workers(Engine::get());
  Engine::get().configure({3}, 1);
  for (int i = 0; i < cases; ++i) {
    constexpr TileVersion versions[] = {TileVersion::best, TileVersion::avx2, TileVersion::plain};
    tile_version = versions[i % (has_avx2() ? 3 : 1)];
    conv<float>(), conv<double>();
    pool<float>(), pool<double>();
    if (i % 4 == 0) rnn<float>(), rnn<double>();
    wait_all();
    product<float>(), product<double>();
    if (gemm_pays())
      same_product<float>({TileVersion::best, TileVersion::avx2}),
          same_product<double>({TileVersion::best, TileVersion::avx2});
  }
  check(taken > cases / 10, "enough convolutions by Winograd's method: " + std::to_string(taken));
  stop_workers();
  return 0;
}
