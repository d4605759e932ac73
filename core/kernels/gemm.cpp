// Blocks of b are packed into strips, as wide as the sums of a panel of rows can be in registers; they stay in the core's second cache
// while panel after panel of a goes over them. A panel is read where it lies if its terms follow one another, and else packed, too.
// Compiled with contraction to fused multiply-add (CMakeLists.txt).
#include "kernels/gemm.h"

#include <algorithm>

#include "kernels/scratch.h"
#include "kernels/versions.h"

namespace forerun {

namespace {

constexpr int64_t kTerms = 384;            // of a block of b, at most,
constexpr int64_t kBlockBytes = 384 * 4;   // and so wide: both together half of a second cache
constexpr int64_t kPacked = 32;            // rows of a that are packed at once: they share lines where they lie across
constexpr int kVectors = 3;                // of a strip
constexpr int64_t kSmall = 8192;           // elements that stay in the first cache
constexpr int64_t kFew = 16;               // rows for which packing rows of b would cost more than it saves

template <class T, int bytes>
struct Sizes {
  static constexpr int64_t lanes = bytes / static_cast<int64_t>(sizeof(T));
  static constexpr int64_t strip = kVectors * lanes;
  static constexpr int rows = bytes == 64 ? 8 : 4;  // of a panel: rows x kVectors sums and what they need fill the registers
};

template <class T>
struct Product {
  int64_t rows, columns, terms;
  MatrixView<T> a, b;
  T* c;
  int64_t c_step;
  template <int bytes>
  void run() const;
};

// A panel of a times a strip of b, of n vectors. packed: the panel's rows follow one another, term by term; else `a_step` elements
// apart, and their terms follow one another.
template <class T, int bytes, bool packed, int n>
FORERUN_EACH void sums(int64_t terms, const T* a, int64_t a_step, const T* b, int64_t b_step, T* c, int64_t c_step, bool add) {
  using V = typename Vector<T, bytes>::type;
  using Size = Sizes<T, bytes>;
  constexpr int rows = Size::rows;
  V sum[rows][n];
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < n; ++v) sum[i][v] = V{}, __builtin_prefetch(c + i * c_step + v * Size::lanes, 1);
  for (int64_t k = 0; k < terms; ++k, b += b_step) {
    V x[n];
    for (int v = 0; v < n; ++v) x[v] = *reinterpret_cast<const V*>(b + v * Size::lanes);
    for (int i = 0; i < rows; ++i) {
      T factor = packed ? a[k * rows + i] : a[i * a_step + k];
      for (int v = 0; v < n; ++v) sum[i][v] += factor * x[v];
    }
  }
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < n; ++v) {
      V& to = *reinterpret_cast<V*>(c + i * c_step + v * Size::lanes);
      to = add ? to + sum[i][v] : sum[i][v];
    }
}

template <class T, int bytes, bool packed>
FORERUN_EACH void sums_of(int64_t vectors, int64_t terms, const T* a, int64_t a_step, const T* b, int64_t b_step, T* c, int64_t c_step, bool add) {
  if (vectors == 1)
    sums<T, bytes, packed, 1>(terms, a, a_step, b, b_step, c, c_step, add);
  else if (vectors == 2)
    sums<T, bytes, packed, 2>(terms, a, a_step, b, b_step, c, c_step, add);
  else
    sums<T, bytes, packed, 3>(terms, a, a_step, b, b_step, c, c_step, add);
}

// A square of as many rows as a vector has places, turned over; rows after the last one are like it.
template <class T, int bytes>
FORERUN_EACH void turn(const T* from, int64_t step, int64_t last, T* to, int64_t to_step) {
  using V = typename Vector<T, bytes>::type;
  using I = typename Vector<std::conditional_t<sizeof(T) == 4, int32_t, int64_t>, bytes>::type;
  constexpr int n = static_cast<int>(Sizes<T, bytes>::lanes);
  V row[n];
  for (int i = 0; i < n; ++i) row[i] = *reinterpret_cast<const V*>(from + std::min<int64_t>(i, last) * step);
#pragma GCC unroll 4
  for (int d = 1; d < n; d *= 2) {  // squares of d x d change places
    I low, high;
#pragma GCC unroll 16
    for (int e = 0; e < n; ++e) low[e] = e & d ? n + (e ^ d) : e, high[e] = e & d ? n + e : e ^ d;
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) {
      if (i & d) continue;
      V upper = row[i], lower = row[i + d];
      row[i] = __builtin_shuffle(upper, lower, low), row[i + d] = __builtin_shuffle(upper, lower, high);
    }
  }
  for (int i = 0; i < n; ++i) *reinterpret_cast<V*>(to + i * to_step) = row[i];
}

// Strips of b whose columns follow one another; the columns that the last one lacks are 0.
template <class T, int bytes>
FORERUN_EACH void pack_across(const MatrixView<T>& b, int64_t terms, int64_t columns, T* to) {
  using V = typename Vector<T, bytes>::type;
  using Size = Sizes<T, bytes>;
  const int64_t whole = columns / Size::lanes * Size::lanes;
  for (int64_t k = 0; k < terms; ++k) {
    const T* row = b.data + k * b.row_step;
    T* at = to + k * Size::strip;
    int64_t j = 0;
    for (; j + Size::strip <= columns; j += Size::strip, at += terms * Size::strip)
      for (int v = 0; v < kVectors; ++v) *reinterpret_cast<V*>(at + v * Size::lanes) = *reinterpret_cast<const V*>(row + j + v * Size::lanes);
    if (j == columns) continue;
    for (int v = 0; v < kVectors; ++v, j += Size::lanes, at += Size::lanes)
      if (j < whole)
        *reinterpret_cast<V*>(at) = *reinterpret_cast<const V*>(row + j);
      else
        for (int64_t e = 0; e < Size::lanes; ++e) at[e] = j + e < columns ? row[j + e] : T{};
  }
}

// Strips of b whatever its steps are, faster if its rows follow one another. What the last one lacks is any of the other columns.
template <class T, int bytes>
FORERUN_EACH void pack_down(const MatrixView<T>& b, int64_t terms, int64_t columns, T* to) {
  using Size = Sizes<T, bytes>;
  const int64_t turned = b.row_step == 1 ? terms / Size::lanes * Size::lanes : 0;
  for (int64_t j = 0; j < columns; j += Size::lanes) {
    T* at = to + j / Size::strip * Size::strip * terms + j % Size::strip;
    const int64_t last = std::min(Size::lanes, columns - j) - 1;
    const T* from = b.data + j * b.column_step;
    for (int64_t k = 0; k < turned; k += Size::lanes) turn<T, bytes>(from + k, b.column_step, last, at + k * Size::strip, Size::strip);
    for (int64_t k = turned; k < terms; ++k)
      for (int64_t e = 0; e < Size::lanes; ++e) at[k * Size::strip + e] = from[k * b.row_step + std::min(e, last) * b.column_step];
  }
}

// Rows of a, as panels of which each has all terms; the rows that the last one lacks are 0.
template <class T, int bytes>
FORERUN_EACH void pack_rows(const MatrixView<T>& a, int64_t rows, int64_t terms, T* to) {
  constexpr int panel = Sizes<T, bytes>::rows;
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T)), kAhead = 16;
  using V = typename Vector<T, panel * sizeof(T)>::type;
  int64_t whole = a.row_step == 1 ? rows / panel * panel : 0;
  for (int64_t k = 0; k < terms; ++k) {
    for (int64_t i = 0; i < whole; i += kLine) __builtin_prefetch(a.data + (k + kAhead) * a.column_step + i);
    for (int64_t i = 0; i < whole; i += panel) *reinterpret_cast<V*>(to + i * terms + k * panel) = *reinterpret_cast<const V*>(a.data + k * a.column_step + i);
  }
  for (int64_t i = whole; i < rows; i += panel)
    for (int64_t k = 0; k < terms; ++k)
      for (int64_t r = i; r < i + panel; ++r) to[i * terms + k * panel + r - i] = r < rows ? a.data[r * a.row_step + k * a.column_step] : T{};
}

// One block of b: `terms` of its rows, from which all of c's elements in its columns get a sum.
template <class T, int bytes>
FORERUN_EACH void block(const Product<T>& p, int64_t first, int64_t terms, int64_t column, int64_t columns, T* room) {
  using Size = Sizes<T, bytes>;
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
  T *packed_b = room, *packed_a = room + terms * ((columns + Size::strip - 1) / Size::strip * Size::strip), *rest = packed_a + kPacked * terms;
  const T* b = p.b.data + first * p.b.row_step + column * p.b.column_step;
  const bool in_place = p.b.column_step == 1 && (p.rows <= kFew || terms * columns <= kSmall) && columns % Size::lanes == 0;  // b is read where it lies
  if (p.b.column_step != 1)
    pack_down<T, bytes>({b, p.b.row_step, p.b.column_step}, terms, columns, packed_b);
  else if (!in_place)
    pack_across<T, bytes>({b, p.b.row_step, 1}, terms, columns, packed_b);
  for (int64_t i = 0; i < p.rows; i += Size::rows) {
    const T* a = p.a.data + i * p.a.row_step + first * p.a.column_step;
    const int64_t rows = std::min<int64_t>(Size::rows, p.rows - i);
    const bool lies = p.a.column_step == 1 && rows == Size::rows;
    if (!lies) {
      if (p.a.column_step == 1 || i % kPacked == 0) pack_rows<T, bytes>({a, p.a.row_step, p.a.column_step}, std::min(p.a.column_step == 1 ? rows : kPacked, p.rows - i), terms, packed_a);
      a = packed_a + (p.a.column_step == 1 ? 0 : i % kPacked * terms);
    }
    for (int64_t j = 0; j < columns; j += Size::strip) {
      if (lies)  // some of the panel that comes next
        for (int64_t k = terms * j / columns / kLine * kLine; k < terms * (j + Size::strip) / columns; k += kLine)
          for (int r = 0; r < Size::rows; ++r) __builtin_prefetch(a + (Size::rows + r) * p.a.row_step + k);
      const int64_t n = std::min(Size::strip, columns - j), vectors = (n + Size::lanes - 1) / Size::lanes;
      const bool fits = rows == Size::rows && n == vectors * Size::lanes;
      const T* strip = in_place ? b + j : packed_b + j * terms;
      const int64_t step = in_place ? p.b.row_step : Size::strip;
      T *to = p.c + i * p.c_step + column + j, *c = fits ? to : rest;
      const int64_t c_step = fits ? p.c_step : Size::strip;
      const bool add = first > 0 && fits;
      if (lies)
        sums_of<T, bytes, false>(vectors, terms, a, p.a.row_step, strip, step, c, c_step, add);
      else
        sums_of<T, bytes, true>(vectors, terms, a, 0, strip, step, c, c_step, add);
      if (fits) continue;
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t e = 0; e < n; ++e) to[r * p.c_step + e] = first > 0 ? to[r * p.c_step + e] + c[r * c_step + e] : c[r * c_step + e];
    }
  }
}

// Into how large pieces n is cut, none larger than `most`.
constexpr int64_t piece(int64_t n, int64_t most, int64_t unit) {
  int64_t pieces = (n + most - 1) / most;
  return ((n + pieces - 1) / pieces + unit - 1) / unit * unit;
}

template <class T>
template <int bytes>
FORERUN_EACH void Product<T>::run() const {
  using Size = Sizes<T, bytes>;
  const int64_t deep = piece(terms, kTerms, 1), wide = piece(columns, kBlockBytes / static_cast<int64_t>(sizeof(T)), Size::strip);
  T* room = reinterpret_cast<T*>(scratch(static_cast<size_t>(deep * (wide + kPacked) + Size::rows * Size::strip) * sizeof(T)));
  for (int64_t j = 0; j < columns; j += wide)
    for (int64_t k = 0; k < terms; k += deep) block<T, bytes>(*this, k, std::min(deep, terms - k), j, std::min(wide, columns - j), room);
}

}  // namespace

bool gemm_pays() {
  static const bool good = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return good && tile_version != TileVersion::plain;
}

template <class T>
void gemm(int64_t rows, int64_t columns, int64_t terms, MatrixView<T> a, MatrixView<T> b, T* c, int64_t c_step) {
  in_best_version(Product<T>{rows, columns, terms, a, b, c, c_step});
}

template void gemm(int64_t, int64_t, int64_t, MatrixView<float>, MatrixView<float>, float*, int64_t);
template void gemm(int64_t, int64_t, int64_t, MatrixView<double>, MatrixView<double>, double*, int64_t);

}  // namespace forerun
