#include "cpu/kernels/gemm/matmul.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <vector>

#include "base/rounding.h"
#include "base/simd/simd_target.h"
#include "cpu/kernels/gemm/gemm.h"
#include "cpu/loops/item.h"
#include "device/brief_spec.h"
#include "device/op_spec.h"

namespace forerun {

Blas blas;
BlasLimits blas_limits;

namespace {

constexpr int kRowMajor = 101, kNoTrans = 111, kTrans = 112;
constexpr double kTileFlops = 1e7;  // batch items together make at least about this much
constexpr double kCutFlops = 4e6,
                 kGrowth = 12;  // larger products are cut in two, and in twice as many tiles for each `kGrowth` times
                                // more
constexpr int64_t kTall = 512;  // rows of a tile, at least, if they need not be packed
constexpr double kMostFlops = 8.2e9;       // of a block: a waiting thread that computes one must respond to Ctrl-C soon
constexpr int64_t kRowStep = 24;           // the best kernels process so many rows at once, or a half, or a third
constexpr int64_t kLeast = 32;             // rows and columns below which BLAS is faster,
constexpr double kLeastFlops = 1e5;        // and operations
constexpr double kCallNs = 10;             // of each item of a batch, at least
constexpr int64_t kMostTiny = 512;         // multiplications of an item of a batch, below which no library is called
constexpr int64_t kVectorBytes = 1 << 20;  // of a matrix that is multiplied by a vector, per tile,
constexpr int64_t kVectorWidth = 1 << 10;  // and consecutive elements of it, if each is of another result

// A matrix as BLAS sees it.
struct Matrix {
  char* data;
  int64_t rows, columns, row_step, column_step;  // steps in elements
  bool fits() const {
    return (!transposed() || (row_step == 1 && column_step >= std::max<int64_t>(1, rows))) &&
           leading() <= blas_limits.step;
  }
  bool transposed() const { return !(column_step == 1 && row_step >= std::max<int64_t>(1, columns)); }
  int64_t leading() const { return transposed() ? column_step : row_step; }
};

// out = a @ b, or out += a @ b.
void multiply(DType t, const Matrix& a, const Matrix& b, char* out, int64_t ldc, bool add) {
  int m = static_cast<int>(a.rows), n = static_cast<int>(b.columns), k = static_cast<int>(a.columns);
  int ta = a.transposed() ? kTrans : kNoTrans, tb = b.transposed() ? kTrans : kNoTrans;
  int lda = static_cast<int>(a.leading()), ldb = static_cast<int>(b.leading()), ld = static_cast<int>(ldc);
  const double one[2] = {1, 0}, beta[2] = {add ? 1.0 : 0.0, 0};
  const float one_f[2] = {1, 0}, beta_f[2] = {add ? 1.0f : 0.0f, 0};
  switch (t) {
    case DType::f32:
      return blas.sgemm(kRowMajor, ta, tb, m, n, k, 1, reinterpret_cast<float*>(a.data), lda,
                        reinterpret_cast<float*>(b.data), ldb, beta_f[0], reinterpret_cast<float*>(out), ld);
    case DType::f64:
      return blas.dgemm(kRowMajor, ta, tb, m, n, k, 1, reinterpret_cast<double*>(a.data), lda,
                        reinterpret_cast<double*>(b.data), ldb, beta[0], reinterpret_cast<double*>(out), ld);
    case DType::c64: return blas.cgemm(kRowMajor, ta, tb, m, n, k, one_f, a.data, lda, b.data, ldb, beta_f, out, ld);
    default: return blas.zgemm(kRowMajor, ta, tb, m, n, k, one, a.data, lda, b.data, ldb, beta, out, ld);
  }
}

// Matrix times vector, of real numbers: y[i] = (y[i] +) sum over j of a[i, j] * x[j]; steps in elements.
void multiply_vector(DType t, const Matrix& a, const char* x, int64_t x_step, char* y, bool add) {
  // For BLAS: rows are the leading step apart, or it is the transpose of that.
  bool across = a.transposed();
  int rows = static_cast<int>(across ? a.columns : a.rows), columns = static_cast<int>(across ? a.rows : a.columns);
  int trans = across ? kTrans : kNoTrans, lda = static_cast<int>(a.leading()), ix = static_cast<int>(x_step);
  if (t == DType::f32)
    blas.sgemv(kRowMajor, trans, rows, columns, 1, reinterpret_cast<float*>(a.data), lda,
               reinterpret_cast<const float*>(x), ix, add ? 1 : 0, reinterpret_cast<float*>(y), 1);
  else
    blas.dgemv(kRowMajor, trans, rows, columns, 1, reinterpret_cast<double*>(a.data), lda,
               reinterpret_cast<const double*>(x), ix, add ? 1 : 0, reinterpret_cast<double*>(y), 1);
}

// Whether BLAS has products with vectors of this dtype.
bool has_vectors(DType t) {
  return (t == DType::f32 || t == DType::f64) && blas.sgemv && blas.dgemv && blas.sdot && blas.ddot;
}

// Whether BLAS can multiply vectors with these steps in bytes in place.
bool takes_vectors(DType t, int64_t x_step, int64_t y_step) {
  const auto size = static_cast<int64_t>(item_size(t));
  auto takes = [&](int64_t step) { return step > 0 && step % size == 0 && step / size <= blas_limits.step; };
  const bool has = is_complex(t) ? blas.cdotu && blas.zdotu : has_vectors(t);
  return has && takes(x_step) && takes(y_step);
}

// The sum of n products of elements of two such vectors, stored in `out` or added to it.
void multiply_vectors(DType t, int64_t n, const char* x, int64_t x_step, const char* y, int64_t y_step, char* out,
                      bool add) {
  auto dot = [&]<class T>(T (*f)(int, const T*, int, const T*, int)) {
    constexpr auto kSize = static_cast<int64_t>(sizeof(T));
    T sum = f(static_cast<int>(n), reinterpret_cast<const T*>(x), static_cast<int>(x_step / kSize),
              reinterpret_cast<const T*>(y), static_cast<int>(y_step / kSize));
    T& to = *reinterpret_cast<T*>(out);
    to = add ? to + sum : sum;
  };
  auto dot_complex = [&]<class T>(T, auto f) {
    constexpr auto kSize = static_cast<int64_t>(sizeof(T));
    T sum, &to = *reinterpret_cast<T*>(out);
    f(static_cast<int>(n), x, static_cast<int>(x_step / kSize), y, static_cast<int>(y_step / kSize), &sum);
    to = add ? to + sum : sum;
  };
  switch (t) {
    case DType::f32: return dot(blas.sdot);
    case DType::f64: return dot(blas.ddot);
    case DType::c64: return dot_complex(std::complex<float>{}, blas.cdotu);
    default: return dot_complex(std::complex<double>{}, blas.zdotu);
  }
}

// A matrix whose strides are given in bytes, in place. BLAS can read it if it fits().
Matrix matrix_of(const char* data, int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride,
                 int64_t size) {
  auto steps = [size](int64_t stride) { return stride % size ? 0 : stride / size; };
  Matrix x{const_cast<char*>(data), rows, columns, steps(row_stride), steps(column_stride)};
  if (x.rows == 1 && x.column_step == 1) x.row_step = std::max<int64_t>(1, x.columns);
  if (x.columns == 1 && x.row_step == 1) x.column_step = std::max<int64_t>(1, x.rows);
  return x;
}

template <size_t size>
void pack(char* out, const char* in, int64_t rows, int64_t columns, int64_t row_step, int64_t column_step) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j, out += size) std::memcpy(out, in + i * row_step + j * column_step, size);
}

// The extents of a small product, and the strides of its operands in bytes.
struct TinyProduct {
  int64_t m, n, k, a_row, a_column, b_row, b_column;
};

// `width` columns of the result, from column j on.
template <int width, bool dense, class T>
[[gnu::always_inline]] inline void multiply_columns(const TinyProduct& p, const char* a, const char* b, T* c,
                                                    int64_t j) {
  const int64_t step = dense ? static_cast<int64_t>(sizeof(T)) : p.b_column;
  for (int64_t i = 0; i < p.m; ++i) {
    T sums[width] = {};
    for (int64_t l = 0; l < p.k; ++l) {
      const T x = load<T>(a + i * p.a_row + l * p.a_column);
      const char* y = b + l * p.b_row + j * step;
      for (int column = 0; column < width; ++column) sums[column] += x * load<T>(y + column * step);
    }
    std::memcpy(c + i * p.n + j, sums, sizeof sums);
  }
}

template <bool dense, class T>
[[gnu::always_inline]] inline void multiply_all(const TinyProduct& p, const char* a, const char* b, T* c) {
  int64_t j = 0;
  for (; j + 8 <= p.n; j += 8) multiply_columns<8, dense>(p, a, b, c, j);
  switch (p.n - j) {
    case 7: return multiply_columns<7, dense>(p, a, b, c, j);
    case 6: return multiply_columns<6, dense>(p, a, b, c, j);
    case 5: return multiply_columns<5, dense>(p, a, b, c, j);
    case 4: return multiply_columns<4, dense>(p, a, b, c, j);
    case 3: return multiply_columns<3, dense>(p, a, b, c, j);
    case 2: return multiply_columns<2, dense>(p, a, b, c, j);
    case 1: return multiply_columns<1, dense>(p, a, b, c, j);
    default: return;
  }
}

FORERUN_CLONES void multiply_one(const TinyProduct& p, const char* a, const char* b, double* c) {
  p.b_column == sizeof(double) ? multiply_all<true>(p, a, b, c) : multiply_all<false>(p, a, b, c);
}
FORERUN_CLONES void multiply_one(const TinyProduct& p, const char* a, const char* b, float* c) {
  p.b_column == sizeof(float) ? multiply_all<true>(p, a, b, c) : multiply_all<false>(p, a, b, c);
}

class MatmulKernel final : public Kernel {
 public:
  const char* name() const override { return "matmul"; }
  bool droppable() const override { return true; }
  int64_t tiles() const override { return tiles_; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  bool describe(Op&, OpSpec& spec) const override {
    spec.kind = "matmul", spec.name = name();
    spec.input(0, a), spec.input(1, b), spec.output(2, out);
    return true;
  }
  bool describe_briefly(BriefSpec& brief) const override {
    brief.put("matmul");
    for (const Layout* each : {&a, &b, &out}) brief.put(*each);
    return true;
  }

  void run(Op& op, int64_t tile) override {
    if (m == 0 || n == 0 || batch == 0) return;
    if (fallback) return run_fallback(op);
    if (blocks == 1) {
      const int64_t first = tile * per_tile, end = std::min(batch, first + per_tile);
      if (tiny_) return size == 4 ? multiply_tiny<float>(op, first, end) : multiply_tiny<double>(op, first, end);
      for (int64_t i = first; i < end; ++i) block(op, i, 0, m, 0, n);
      return;
    }
    int64_t item = tile / blocks, rest = tile % blocks, r = rest / across * rows_at_once,
            c = rest % across * columns_at_once;
    block(op, item, r, std::min(m, r + rows_at_once), c, std::min(n, c + columns_at_once));
  }

  void prepare() {
    size = static_cast<int64_t>(item_size(dtype));
    int axes = a.ndim();
    m = a.shape[axes - 2], k = a.shape[axes - 1], n = b.shape[axes - 1];
    batch = 1;
    for (int i = 0; i + 2 < axes; ++i) batch *= a.shape[i];
    rows_at_once = m, columns_at_once = n;
    if (fallback || m * n == 0 || batch == 0) return;
    double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(std::max<int64_t>(k, 1));
    auto whole = [&](const Layout& l) { return l.strides[axes - 2] % size == 0 && l.strides[axes - 1] % size == 0; };
    gemm_ = (dtype == DType::f32 || dtype == DType::f64) && std::min(m, n) >= kLeast && flops >= kLeastFlops &&
            whole(a) && whole(b) && gemm_pays();
    tiny_ = (dtype == DType::f32 || dtype == DType::f64) && batch > 1 && m * n * k <= kMostTiny;
    int64_t down = 1;
    across = 1;
    if (n == 1 || m == 1) {  // with a vector, the other operand is read once: its memory determines the time
      // A tile has whole lines of it, or wide pieces: narrow ones are read much more slowly.
      auto cut = [&](int64_t results, int64_t result_stride) {
        const int64_t widest = result_stride == size ? ceil_div(results, kVectorWidth) : results;
        return std::clamp<int64_t>(results * k * size / kVectorBytes, 1, widest);
      };
      if (n == 1) down = cut(m, a.strides[axes - 2]);
      if (m == 1) across = cut(n, b.strides[axes - 1]);
    } else {
      double pieces = 1;
      for (double limit = kCutFlops; flops * static_cast<double>(batch) > limit; limit *= kGrowth) pieces *= 2;
      auto few = [&](double blocks) {
        return blocks * static_cast<double>(batch) < pieces || flops > blocks * kMostFlops;
      };
      while (flops > kCutFlops && few(static_cast<double>(down * across)))
        (m / down >= n / across ? down : across) *= 2;
      const bool lies = gemm_ && a.strides[axes - 1] == size;  // rows of a are not packed: more tiles cost little
      while (lies && m / down >= 2 * kTall && flops > 2 * kTileFlops * static_cast<double>(down * across)) down *= 2;
      if (!gemm_) {
        while (m / down > blas_limits.extent) down *= 2;
        while (n / across > blas_limits.extent) across *= 2;
      }
    }
    rows_at_once = ceil_div(m, down), columns_at_once = ceil_div(n, across);
    if (down > 1 && rows_at_once > 5 * kRowStep) rows_at_once = round_up(rows_at_once, kRowStep);
    if (across > 1 && gemm_) columns_at_once = round_up(columns_at_once, kGemmColumns);
    down = ceil_div(m, rows_at_once), across = ceil_div(n, columns_at_once);
    blocks = down * across;
    tiles_ = batch * blocks;
    if (blocks > 1) return;
    int64_t together = std::max<int64_t>(1, static_cast<int64_t>(kTileFlops / flops));
    tiles_ = ceil_div(batch, together);
    per_tile = ceil_div(batch, tiles_);
    tiles_ = ceil_div(batch, per_tile);
  }

  DType dtype;
  Layout a, b, out;
  Loop fallback;
  int64_t m = 0, n = 0, k = 0, batch = 1, size = 4;

 private:
  int64_t position(int64_t item, const Layout& l) const {
    return l.offset + offset_at(item, l.shape, l.strides, l.ndim() - 2);
  }

  // From row r and column c on, of an item.
  char* element(Op& op, int i, const Layout& l, int64_t item, int64_t r, int64_t c) const {
    return operand_data(op, i, position(item, l) + r * l.strides[l.ndim() - 2] + c * l.strides[l.ndim() - 1]);
  }

  // BLAS can read the strides, or the matrix is packed.
  Matrix matrix(char* data, const Layout& l, int64_t rows, int64_t columns, std::vector<char>& packed) const {
    int64_t rs = l.strides[l.ndim() - 2], cs = l.strides[l.ndim() - 1];
    Matrix x = matrix_of(data, rows, columns, rs, cs, size);
    if (x.fits()) return x;
    packed.resize(static_cast<size_t>(x.rows * x.columns * size));
    if (size == 4)
      pack<4>(packed.data(), data, x.rows, x.columns, rs, cs);
    else if (size == 8)
      pack<8>(packed.data(), data, x.rows, x.columns, rs, cs);
    else
      pack<16>(packed.data(), data, x.rows, x.columns, rs, cs);
    return Matrix{packed.data(), x.rows, x.columns, std::max<int64_t>(1, x.columns), 1};
  }

  void block(Op& op, int64_t item, int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
    char* c = operand_data(op, 2, position(item, out)) + (r0 * n + c0) * size;
    if (k == 0) {
      for (int64_t r = r0; r < r1; ++r) std::memset(c + (r - r0) * n * size, 0, static_cast<size_t>((c1 - c0) * size));
    } else if (gemm_) {
      size == 4 ? multiply_here<float>(op, item, r0, r1, c0, c1, c)
                : multiply_here<double>(op, item, r0, r1, c0, c1, c);
    } else if (n > blas_limits.step && r1 - r0 > 1) {  // the step between rows is too large
      for (int64_t r = r0; r < r1; ++r) block(op, item, r, r + 1, c0, c1);
    } else {
      for (int64_t k0 = 0; k0 < k; k0 += blas_limits.extent)
        terms(op, item, r0, r1, c0, c1, k0, std::min(k, k0 + blas_limits.extent), c);
    }
  }

  // Items of a batch whose products take less time than a call.
  template <class T>
  void multiply_tiny(Op& op, int64_t first, int64_t end) const {
    const int axes = a.ndim();
    const TinyProduct product{
        m, n, k, a.strides[axes - 2], a.strides[axes - 1], b.strides[axes - 2], b.strides[axes - 1]};
    auto at = [&](int operand, const Layout& l, int64_t item) {
      return operand_data(op, operand, axes == 3 ? l.offset + item * l.strides[0] : position(item, l));
    };
    for (int64_t item = first; item < end; ++item)
      multiply_one(product, at(0, a, item), at(1, b, item), reinterpret_cast<T*>(at(2, out, item)));
  }

  template <class T>
  void multiply_here(Op& op, int64_t item, int64_t r0, int64_t r1, int64_t c0, int64_t c1, char* c) const {
    auto view = [&](int i, const Layout& l, int64_t row, int64_t column) {
      return MatrixView<T>{reinterpret_cast<const T*>(element(op, i, l, item, row, column)),
                           l.strides[l.ndim() - 2] / size, l.strides[l.ndim() - 1] / size};
    };
    gemm(r1 - r0, c1 - c0, k, view(0, a, r0, 0), view(1, b, 0, c0), reinterpret_cast<T*>(c), n,
         rows_at_once < m && batch == 1 ? ScratchOwner{op.seq, c0} : ScratchOwner{});
  }

  // Adds the products of columns k0 to k1 of a and rows k0 to k1 of b to a block of the result, or sets it to the first
  // product.
  void terms(Op& op, int64_t item, int64_t r0, int64_t r1, int64_t c0, int64_t c1, int64_t k0, int64_t k1, char* c) {
    const int64_t a_step = a.strides[a.ndim() - 1], b_step = b.strides[b.ndim() - 2];
    if (m == 1 && n == 1 && takes_vectors(dtype, a_step, b_step))
      return multiply_vectors(dtype, k1 - k0, element(op, 0, a, item, r0, k0), a_step, element(op, 1, b, item, k0, c0),
                              b_step, c, k0 > 0);
    thread_local std::vector<char> packed_a, packed_b;
    Matrix ma = matrix(element(op, 0, a, item, r0, k0), a, r1 - r0, k1 - k0, packed_a);
    Matrix mb = matrix(element(op, 1, b, item, k0, c0), b, k1 - k0, c1 - c0, packed_b);
    if (n == 1 && has_vectors(dtype)) {
      multiply_vector(dtype, ma, mb.data, mb.row_step, c, k0 > 0);
    } else if (m == 1 && has_vectors(dtype)) {
      Matrix turned{mb.data, mb.columns, mb.rows, mb.column_step, mb.row_step};
      multiply_vector(dtype, turned, ma.data, ma.column_step, c, k0 > 0);
    } else {
      multiply(dtype, ma, mb, c, r1 - r0 == 1 ? c1 - c0 : n, k0 > 0);
    }
    if (packed_a.capacity() > (1 << 22)) std::vector<char>().swap(packed_a);
    if (packed_b.capacity() > (1 << 22)) std::vector<char>().swap(packed_b);
  }

  void run_fallback(Op& op) {
    int axes = a.ndim();
    for (int64_t i = 0; i < batch; ++i) {
      char* args[3] = {operand_data(op, 0, position(i, a)), operand_data(op, 1, position(i, b)),
                       operand_data(op, 2, position(i, out))};
      intptr_t dims[4] = {1, m, k, n};
      intptr_t steps[9] = {0,
                           0,
                           0,
                           a.strides[axes - 2],
                           a.strides[axes - 1],
                           b.strides[axes - 2],
                           b.strides[axes - 1],
                           out.strides[axes - 2],
                           out.strides[axes - 1]};
      fallback.function(args, dims, steps, fallback.data);
    }
  }

  bool gemm_ = false;  // forerun's kernel multiplies, not BLAS,
  bool tiny_ = false;  // or plain loops
  int64_t rows_at_once = 0, columns_at_once = 0, across = 1, blocks = 1, per_tile = 1, tiles_ = 1;
};

}  // namespace

bool multiply_with_vector(const Layout& a, const char* a_data, const Layout& b, const char* b_data, char* out) {
  const DType t = a.dtype;
  const auto size = static_cast<int64_t>(item_size(t));
  if (a.ndim() == 1 && b.ndim() == 1) {
    if (!takes_vectors(t, a.strides[0], b.strides[0]) || a.shape[0] > blas_limits.extent) return false;
    return multiply_vectors(t, a.shape[0], a_data, a.strides[0], b_data, b.strides[0], out, false), true;
  }
  // The same call of BLAS as in MatmulKernel::terms() for a result with one row or one column.
  const bool left = b.ndim() == 1;
  const Layout &matrix = left ? a : b, &vector = left ? b : a;
  if (!has_vectors(t) || vector.strides[0] != size) return false;
  const int64_t rows = matrix.shape[left ? 0 : 1], columns = vector.shape[0];
  const Matrix x = matrix_of(left ? a_data : b_data, rows, columns, matrix.strides[left ? 0 : 1],
                             matrix.strides[left ? 1 : 0], size);
  if (rows < 2 || columns < 2 || std::max(rows, columns) > blas_limits.extent || !x.fits()) return false;
  return multiply_vector(t, x, left ? b_data : a_data, 1, out, false), true;
}

void build_matmul(Op& op, const Array& a, const Array& b, const Array& out, Loop fallback) {
  DType t = out.layout.dtype;
  bool by_blas = t >= DType::f32 && blas.sgemm;
  if (!by_blas && !fallback)
    throw Error(ErrorKind::not_implemented, std::string("matmul: dtype must have a kernel, got ") + name(t));
  add(op, a, Mode::read);
  add(op, b, Mode::read);
  op.add(out.storage(), out.write_mode());
  MatmulKernel& k = op.emplace<MatmulKernel>();
  k.dtype = t, k.a = a.layout, k.b = b.layout, k.out = out.layout;
  k.fallback = by_blas ? Loop{} : fallback;
  k.prepare();
  double ns = 2.0 * static_cast<double>(out.layout.size) * static_cast<double>(k.k) / (by_blas ? 60 : 1);
  op.cost = static_cast<uint32_t>(std::min(200 + ns + kCallNs * static_cast<double>(k.batch - 1), 2e9));
}

}  // namespace forerun
