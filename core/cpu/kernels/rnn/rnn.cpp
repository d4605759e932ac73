// A tile has a few rows of the batch for all steps: its states stay in the cache, and tiles are independent. Compiled
// with contraction to fused multiply-add (CMakeLists.txt).
#include "cpu/kernels/rnn/rnn.h"

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/simd/simd_target.h"
#include "cpu/kernels/gemm/gemm.h"
#include "cpu/kernels/scratch.h"
#include "device/op_spec.h"

namespace forerun {

namespace {

constexpr int64_t kLeastRows = 16, kMostRows = 32;  // of a tile
constexpr int64_t kTiles = 4;                       // the number of tiles to aim at
constexpr int64_t kPackTile = 1 << 16;              // elements of U, of a tile that packs it

template <class T>
constexpr T inverse_factorial(int n) {
  double product = 1;
  for (int i = 2; i <= n; ++i) product *= i;
  return static_cast<T>(1 / product);
}

// e^x - 1, within a few units in the last place; NaN is kept. Written to be vectorised.
template <class T>
FORERUN_EACH T minus_one(T x) {
  constexpr bool narrow = std::is_same_v<T, float>;
  using Bits = std::conditional_t<narrow, int32_t, int64_t>;
  constexpr int mantissa = narrow ? 23 : 52, bias = narrow ? 127 : 1023;
  constexpr T most = narrow ? T(88) : T(709),
              shift = narrow ? T(12582912.0) : T(6755399441055744.0);  // 1.5 * 2^mantissa
  constexpr T high = narrow ? T(0.693359375) : T(0.693147180369123816490),
              low = narrow ? T(-2.12194440054690582e-4) : T(1.90821492927058770002e-10);
  x = x > most ? most : x;
  x = x < -most ? -most : x;
  T shifted = x * T(1.44269504088896340736) + shift, n = shifted - shift;
  T r = (x - n * high) - n * low;
  constexpr int terms = narrow ? 7 : 14;
  T sum = inverse_factorial<T>(terms);
#pragma GCC unroll 14
  for (int i = terms - 1; i > 1; --i) sum = sum * r + inverse_factorial<T>(i);
  sum = sum * r * r + r;  // e^r - 1
  Bits exponent = std::bit_cast<Bits>(shifted) - std::bit_cast<Bits>(shift) + bias;
  T scale = std::bit_cast<T>(static_cast<Bits>(exponent << mantissa));
  return scale * sum + (scale - 1);
}

template <class T>
FORERUN_EACH T sigmoid(T x) {
  return 1 / (2 + minus_one(-x));
}
template <class T>
FORERUN_EACH T tangent(T x) {
  T e = minus_one(2 * x);
  return e / (e + 2);
}

// One row of one step. All have n units; x, u: the contributions of the input and of the state to the gates; kept: n
// elements for each, possibly in place of x.
template <class T>
struct Row {
  int64_t n;
  const T *x, *u, *h, *c;  // h, c: the previous states
  T *y, *cell, *kept;
};

template <class T>
FORERUN_EACH void step_of(Rule rule, const Row<T>& r) {
  const int64_t n = r.n;
  const T *x = r.x, *__restrict u = r.u, *__restrict h = r.h;
  T* __restrict y = r.y, *kept = r.kept;
  switch (rule) {
    case Rule::tanh:
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) y[i] = tangent(x[i] + u[i]);
      return;
    case Rule::relu:
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) {
        T sum = x[i] + u[i];
        y[i] = sum < 0 ? 0 : sum;
      }
      return;
    case Rule::lstm: {
      const T* __restrict c = r.c;
      T* __restrict cell = r.cell;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) {
        T in = sigmoid(x[i] + u[i]), forget = sigmoid(x[n + i] + u[n + i]),
          fresh = tangent(x[2 * n + i] + u[2 * n + i]), out = sigmoid(x[3 * n + i] + u[3 * n + i]);
        T sum = forget * c[i] + in * fresh;
        kept[i] = in, kept[n + i] = forget, kept[2 * n + i] = fresh, kept[3 * n + i] = out;
        cell[i] = sum, y[i] = out * tangent(sum);
      }
      return;
    }
    case Rule::gru:
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) {
        T reset = sigmoid(x[i] + u[i]), update = sigmoid(x[n + i] + u[n + i]), inner = u[2 * n + i],
          fresh = tangent(x[2 * n + i] + reset * inner);
        kept[i] = reset, kept[n + i] = update, kept[2 * n + i] = fresh, kept[3 * n + i] = inner;
        y[i] = fresh + update * (h[i] - fresh);
      }
  }
}

// The gradient of one row of one step. dh and dc are the gradients of its states; they become those of the previous
// states, without the contribution of U. gx may share the memory of kept.
template <class T>
struct RowBack {
  int64_t n;
  const T *h, *c, *y, *cell, *kept, *gy;
  T *dh, *dc, *gx, *gu;
};

template <class T>
FORERUN_EACH void step_back_of(Rule rule, const RowBack<T>& r) {
  const int64_t n = r.n;
  const T *kept = r.kept, *__restrict gy = r.gy, *__restrict y = r.y;
  T* __restrict dh = r.dh, *gx = r.gx;
  switch (rule) {
    case Rule::tanh:
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) gx[i] = (dh[i] + gy[i]) * (1 - y[i] * y[i]), dh[i] = 0;
      return;
    case Rule::relu:
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) {
        T g = dh[i] + gy[i];
        gx[i] = y[i] > 0 ? g : g * 0, dh[i] = 0;
      }
      return;
    case Rule::lstm: {
      const T* __restrict c = r.c, * __restrict cell = r.cell;
      T* __restrict dc = r.dc;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) {
        T in = kept[i], forget = kept[n + i], fresh = kept[2 * n + i], out = kept[3 * n + i], t = tangent(cell[i]);
        T g = dh[i] + gy[i], gc = dc[i] + g * out * (1 - t * t);
        gx[i] = gc * fresh * (in * (1 - in)), gx[n + i] = gc * c[i] * (forget * (1 - forget));
        gx[2 * n + i] = gc * in * (1 - fresh * fresh), gx[3 * n + i] = g * t * (out * (1 - out));
        dc[i] = gc * forget, dh[i] = 0;
      }
      return;
    }
    case Rule::gru: {
      const T* __restrict h = r.h;
      T* __restrict gu = r.gu;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) {
        T reset = kept[i], update = kept[n + i], fresh = kept[2 * n + i], inner = kept[3 * n + i], g = dh[i] + gy[i];
        T gn = g * (1 - update) * (1 - fresh * fresh), gz = g * (h[i] - fresh) * (update * (1 - update)),
          gr = gn * inner * (reset * (1 - reset));
        gx[i] = gu[i] = gr, gx[n + i] = gu[n + i] = gz, gx[2 * n + i] = gn, gu[2 * n + i] = gn * reset;
        dh[i] = g * update;
      }
    }
  }
}

template <class T>
struct Step {
  Rule rule;
  Row<T> row;
  template <int>
  FORERUN_EACH void run() const {
    step_of(rule, row);
  }
};
template <class T>
struct StepBack {
  Rule rule;
  RowBack<T> row;
  template <int>
  FORERUN_EACH void run() const {
    step_back_of(rule, row);
  }
};

// The matrix that states, or their gradients, are multiplied with at each step.
struct Factor {
  int64_t terms, columns;
};
Factor factor(const Recurrence& what, bool back) {
  const int64_t n = what.units, g = what.gates() * n;
  return back ? Factor{g, n} : Factor{n, g};
}

// Columns of the factor w (gates * units, units), from `column` on, packed for the products.
template <class T>
void pack_columns(const T* w, const Factor& size, bool back, int64_t column, int64_t columns, T* packed) {
  const MatrixView<T> all = back ? MatrixView<T>{w, size.columns, 1} : MatrixView<T>{w, 1, size.terms};
  gemm_pack(size.terms, columns, all.at(0, column), packed + gemm_packed_at(0, column, size.terms));
}

class RecurPackKernel final : public Kernel {
 public:
  const char* name() const override { return "recur_pack"; }
  bool droppable() const override { return true; }
  int64_t tiles() const override { return ceil_div(size.columns, at_once()); }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void run(Op& op, int64_t tile) override { dtype == DType::f32 ? run_as<float>(op, tile) : run_as<double>(op, tile); }

  Factor size;
  bool back = false;
  DType dtype;
  int64_t w_offset = 0, packed_offset = 0;

 private:
  int64_t at_once() const { return round_up(std::max<int64_t>(1, kPackTile / size.terms), kGemmColumns); }  // columns

  template <class T>
  void run_as(Op& op, int64_t tile) const {
    const int64_t column = tile * at_once(), columns = std::min(at_once(), size.columns - column);
    const T* w = reinterpret_cast<const T*>(operand_data(op, 0, w_offset));
    T* packed = reinterpret_cast<T*>(operand_data(op, 1, packed_offset));
    pack_columns(w, size, back, column, columns, packed);
  }
};

class RecurBase : public Kernel {
 public:
  bool droppable() const override { return true; }
  int64_t tiles() const override { return ceil_div(what.batch, rows_at_once()); }

  Recurrence what;
  DType dtype;
  bool packed = true;  // U is given packed for the products; otherwise it is packed in each run

 protected:
  // U, packed: operand i, or a copy of it that lay_out() has made.
  template <class T>
  const T* matrix(Op& op, int i) const {
    return packed ? operand<T>(op, i) : reinterpret_cast<const T*>(laid_out_.data());
  }
  void lay_out(Op& op, int i, bool back) {
    if (packed) return;
    const Factor size = factor(what, back);
    laid_out_.resize(static_cast<size_t>(rnn_packed_size(what, back)) * item_size(dtype));
    auto with = [&]<class T>(T) {
      pack_columns(operand<T>(op, i), size, back, 0, size.columns, reinterpret_cast<T*>(laid_out_.data()));
    };
    dtype == DType::f32 ? with(float{}) : with(double{});
  }
  // Sets the kind of an op, with its non-null operands. The names are those of the inputs and of the results; operands
  // have these shapes.
  void describe_as(OpSpec& spec, const char* kind, int count, int first_result, const char* const* names) const {
    static constexpr const char* rules[] = {"tanh", "relu", "lstm", "gru"};
    std::vector<std::string> has, gives;
    spec.kind = kind, spec.name = rules[static_cast<int>(what.rule)];
    for (int i = 0; i < count; ++i) {
      if (at_[i] < 0) continue;
      Layout dense = Layout::dense(dtype, shape_of(names[i]));
      dense.offset = offset_[i];
      (i < first_result ? has : gives).push_back(names[i]);
      i < first_result ? spec.input(at_[i], dense) : spec.output(at_[i], dense);
    }
    spec.set("rule", spec.name), spec.set("reversed", what.reversed);
    spec.set("has", std::move(has)), spec.set("gives", std::move(gives));
  }
  int64_t rows_at_once() const {
    return std::clamp<int64_t>(round_up(ceil_div(what.batch, kTiles), kGemmRows), kLeastRows, kMostRows);
  }
  int64_t step_at(int64_t i) const { return what.reversed ? what.steps - 1 - i : i; }

  // Adds an operand, if it is not null.
  void use(Op& op, int i, const Array* array, bool write = false) {
    at_[i] = -1;
    if (!array) return;
    at_[i] = op.n_access;
    offset_[i] = array->layout.offset;
    op.add(array->storage(), write ? array->write_mode() : Mode::read);
  }
  template <class T>
  T* operand(Op& op, int i) const {
    return at_[i] < 0 ? nullptr : reinterpret_cast<T*>(operand_data(op, at_[i], offset_[i]));
  }
  // Whether a storage begins with operand i, and contains no other operand.
  bool is_alone(Op& op, int i, const Storage* storage) const {
    int uses = 0;
    for (int k = 0; k < op.n_access; ++k) uses += op.access(k).storage == storage;
    return at_[i] >= 0 && offset_[i] == 0 && op.access(at_[i]).storage == storage && uses == 1;
  }
  // Whether an output as large as all gates may be written over an input of that size, row by row.
  bool in_rows(Op& op, int read, const Storage* in, int written, const Storage* out) const {
    return what.kept() == what.gates() && is_alone(op, read, in) && is_alone(op, written, out);
  }

 private:
  Dims shape_of(std::string_view name) const {
    const int64_t n = what.units, g = what.gates() * n;
    if (name == "u") return {g, n};
    if (name == "b") return {g};
    if (name == "x" || name == "gx" || name == "gu") return {what.steps, what.batch, g};
    if (name == "kept") return {what.steps, what.batch, what.kept() * n};
    if (name == "y" || name == "gy" || name == "cells") return {what.steps, what.batch, n};
    return {what.batch, n};
  }

  int at_[12];
  int64_t offset_[12];
  std::vector<char> laid_out_;
};

// The previous states of a step, row by row; null: zeros.
template <class T>
struct States {
  const T *h, *c, *none;  // none: a row of zeros
  int64_t n;
  void move(int64_t row) {
    if (h) h += row * n;
    if (c) c += row * n;
  }
  const T* h_of(int64_t r) const { return h ? h + r * n : none; }
  const T* c_of(int64_t r) const { return c ? c + r * n : none; }
};

class RecurKernel final : public RecurBase {
 public:
  enum { kX, kH, kC, kU, kB, kY, kCells, kKept };
  const char* name() const override { return "rnn"; }
  bool may_share(Op& op, const Storage* in, const Storage* out) const override {
    return in_rows(op, kX, in, kKept, out);
  }
  bool copy_to(Op& op) const override { return op.copy(*this); }

  void build(Op& op, const RecurArrays& a) {
    const Array* all[] = {a.x, a.h, a.c, a.u, a.b, a.y, a.cells, a.kept};
    for (int i = 0; i < 8; ++i) use(op, i, all[i], i >= kY);
  }
  bool describe(Op&, OpSpec& spec) const override {
    static constexpr const char* names[] = {"x", "h", "c", "u", "b", "y", "cells", "kept"};
    if (!packed) describe_as(spec, "rnn", 8, kY, names);
    return !packed;
  }
  void prepare(Op& op) override { lay_out(op, kU, false); }
  void run(Op& op, int64_t tile) override { dtype == DType::f32 ? run_as<float>(op, tile) : run_as<double>(op, tile); }

 private:
  template <class T>
  void run_as(Op& op, int64_t tile) const {
    const int64_t n = what.units, g = what.gates() * n, row = tile * rows_at_once(),
                  rows = std::min(rows_at_once(), what.batch - row);
    const T *x = operand<T>(op, kX), *b = operand<T>(op, kB), *matrix = this->matrix<T>(op, kU);
    T *y = operand<T>(op, kY), *cells = operand<T>(op, kCells), *kept = operand<T>(op, kKept);
    const int64_t room_size = round_up(gemm_room(n), kGemmColumns);
    T *room = reinterpret_cast<T*>(scratch(static_cast<size_t>(room_size + rows * g + n) * sizeof(T))),
      *u = room + room_size, *none = u + rows * g;
    std::fill_n(none, n, T{});
    States<T> before{operand<T>(op, kH), operand<T>(op, kC), none, n};
    before.move(row);
    for (int64_t i = 0; i < what.steps; ++i) {
      const int64_t first = step_at(i) * what.batch + row;
      for (int64_t r = 0; r < rows; ++r) std::copy_n(b, g, u + r * g);
      if (before.h) gemm_packed(rows, g, n, MatrixView<T>{before.h, n, 1}, matrix, u, g, true, room);
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t at = (first + r) * n;
        in_best_version(Step<T>{what.rule,
                                {n, x + (first + r) * g, u + r * g, before.h_of(r), before.c_of(r), y + at,
                                 cells ? cells + at : nullptr, kept ? kept + at * what.kept() : nullptr}});
      }
      before.h = y + first * n, before.c = cells ? cells + first * n : nullptr;
    }
  }
};

class RecurBackKernel final : public RecurBase {
 public:
  enum { kGy, kGc, kH, kC, kU, kY, kCells, kKept, kGx, kGh, kGc0, kGu };
  const char* name() const override { return "rnn_back"; }
  bool may_share(Op& op, const Storage* in, const Storage* out) const override {
    return in_rows(op, kKept, in, kGx, out);
  }
  bool copy_to(Op& op) const override { return op.copy(*this); }

  void build(Op& op, const RecurBackArrays& a) {
    const Array* all[] = {a.gy, a.gc, a.h, a.c, a.u, a.y, a.cells, a.kept, a.gx, a.gh, a.gc0, a.gu};
    for (int i = 0; i < 12; ++i) use(op, i, all[i], i >= kGx);
  }
  bool describe(Op&, OpSpec& spec) const override {
    static constexpr const char* names[] = {"gy", "gc", "h", "c", "u", "y", "cells", "kept", "gx", "gh", "gc0", "gu"};
    if (!packed) describe_as(spec, "rnn_back", 12, kGx, names);
    return !packed;
  }
  void prepare(Op& op) override { lay_out(op, kU, true); }
  void run(Op& op, int64_t tile) override { dtype == DType::f32 ? run_as<float>(op, tile) : run_as<double>(op, tile); }

 private:
  template <class T>
  void run_as(Op& op, int64_t tile) const {
    const int64_t n = what.units, g = what.gates() * n, row = tile * rows_at_once(),
                  rows = std::min(rows_at_once(), what.batch - row);
    const T *gy = operand<T>(op, kGy), *gc = operand<T>(op, kGc), *matrix = this->matrix<T>(op, kU),
            *y = operand<T>(op, kY), *cells = operand<T>(op, kCells), *kept = operand<T>(op, kKept);
    T *gx = operand<T>(op, kGx), *dh = operand<T>(op, kGh), *dc = operand<T>(op, kGc0), *gu = operand<T>(op, kGu);
    const int64_t room_size = round_up(gemm_room(g), kGemmColumns);
    T *room = reinterpret_cast<T*>(scratch(static_cast<size_t>(room_size + (2 * rows + 1) * n) * sizeof(T))),
      *own = room + room_size, *none = own + 2 * rows * n;
    std::fill_n(none, n, T{});
    States<T> start{operand<T>(op, kH), operand<T>(op, kC), none, n};
    start.move(row);
    // The gradients of the states, step by step: in the end those of the initial states.
    dh = dh ? dh + row * n : own, dc = dc ? dc + row * n : own + rows * n;
    std::fill_n(dh, rows * n, T{});
    gc ? std::copy_n(gc + row * n, rows * n, dc) : std::fill_n(dc, rows * n, T{});
    for (int64_t i = what.steps - 1; i >= 0; --i) {
      const int64_t first = step_at(i) * what.batch + row, last = i ? step_at(i - 1) * what.batch + row : 0;
      const States<T> before = i ? States<T>{y + last * n, cells ? cells + last * n : nullptr, none, n} : start;
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t at = (first + r) * n;
        in_best_version(StepBack<T>{what.rule,
                                    {n, before.h_of(r), before.c_of(r), y + at, cells ? cells + at : nullptr,
                                     kept ? kept + at * what.kept() : nullptr, gy + at, dh + r * n, dc + r * n,
                                     gx + (first + r) * g, gu ? gu + (first + r) * g : nullptr}});
      }
      if (before.h) gemm_packed(rows, n, g, MatrixView<T>{(gu ? gu : gx) + first * g, g, 1}, matrix, dh, n, true, room);
    }
  }
};

template <class K, class Arrays>
void build(Op& op, const Recurrence& what, const Arrays& arrays, DType dtype) {
  K& k = op.emplace<K>();
  k.what = what, k.dtype = dtype, k.packed = arrays.u->layout.ndim() == 1;
  k.build(op, arrays);
  double flops = 2.0 * static_cast<double>(what.steps * what.batch) *
                 static_cast<double>(what.gates() * what.units * (what.units + 20));
  op.cost = static_cast<uint32_t>(std::min(500 + flops / 60, 2e9));
}

}  // namespace

int64_t rnn_packed_size(const Recurrence& what, bool back) {
  const Factor size = factor(what, back);
  return gemm_packed_size(size.terms, size.columns);
}

void build_rnn_pack(Op& op, const Recurrence& what, bool back, const Array& w, const Array& packed) {
  RecurPackKernel& k = op.emplace<RecurPackKernel>();
  k.size = factor(what, back), k.back = back, k.dtype = w.layout.dtype;
  k.w_offset = w.layout.offset, k.packed_offset = packed.layout.offset;
  op.add(w.storage(), Mode::read);
  op.add(packed.storage(), packed.write_mode());
  op.cost = static_cast<uint32_t>(std::min<int64_t>(500 + k.size.terms * k.size.columns / 4, INT32_MAX));
}

void build_rnn(Op& op, const Recurrence& what, const RecurArrays& arrays) {
  build<RecurKernel>(op, what, arrays, arrays.y->layout.dtype);
}
void build_rnn_back(Op& op, const Recurrence& what, const RecurBackArrays& arrays) {
  build<RecurBackKernel>(op, what, arrays, arrays.gx->layout.dtype);
}

}  // namespace forerun
