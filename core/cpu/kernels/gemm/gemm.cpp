// Blocks of b are packed into bands, unless that would gain nothing, and processed in strips as wide as the sums of a
// panel of rows fit in registers; they stay in the core's L2 cache while they are multiplied by panel after panel of a.
// A panel is read in place if its terms are consecutive, and otherwise packed, too. Compiled with contraction to fused
// multiply-add (CMakeLists.txt).
#include "cpu/kernels/gemm/gemm.h"

#include <algorithm>

#include "base/rounding.h"
#include "base/simd/simd_target.h"
#include "cpu/kernels/gemm/transpose.h"
#include "cpu/kernels/scratch.h"

namespace forerun {

namespace {

constexpr int64_t kTerms = 384;           // of a block of b, at most,
constexpr int64_t kBlockBytes = 384 * 4;  // and its width in bytes: both together half of an L2 cache
constexpr int64_t kPacked = 64;           // rows of a that are packed at once: with large steps they share cache lines
constexpr int kVectors = 3;               // of a strip
constexpr int64_t kSmall = 8192;          // elements that stay in the L1 cache
constexpr size_t kKept = 2 << 20;         // bytes of a b whose blocks all stay packed, if it has an owner
constexpr int64_t kFew = 16;              // with fewer rows, packing rows of b would cost more than it saves

template <class T, int bytes>
struct Sizes {
  static constexpr int64_t lanes = bytes / static_cast<int64_t>(sizeof(T));
  static constexpr int64_t strip = kVectors * lanes;
  static_assert(kGemmColumns % strip == 0);
  static constexpr int rows =
      bytes == 64 ? 8 : 4;  // of a panel: rows x kVectors sums and their operands fill the registers
};

// A panel of a times a strip of b, of n vectors. packed: the panel's rows follow one another, term by term; else
// `a_step` elements apart, and their terms follow one another.
template <class T, int bytes, bool packed, int n>
FORERUN_EACH void sums(int64_t terms, const T* a, int64_t a_step, const T* b, int64_t b_step, T* c, int64_t c_step,
                       bool add) {
  using V = typename Vector<T, bytes>::type;
  using Size = Sizes<T, bytes>;
  constexpr int rows = Size::rows;
  V sum[rows][n];
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < n; ++v) sum[i][v] = V{};
  int64_t k = 0;
#pragma GCC unroll 1
  for (int row = 0; row < rows; ++row) {  // prefetches c's lines gradually, as b's lines are fetched meanwhile
    for (int v = 0; v < n; ++v) __builtin_prefetch(c + row * c_step + v * Size::lanes, 1);
    for (const int64_t end = terms * (row + 1) / rows; k < end; ++k, b += b_step) {
      V x[n];
      for (int v = 0; v < n; ++v) x[v] = *reinterpret_cast<const V*>(b + v * Size::lanes);
      for (int i = 0; i < rows; ++i) {
        T factor = packed ? a[k * rows + i] : a[i * a_step + k];
        for (int v = 0; v < n; ++v) sum[i][v] += factor * x[v];
      }
    }
  }
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < n; ++v) {
      V& to = *reinterpret_cast<V*>(c + i * c_step + v * Size::lanes);
      to = add ? to + sum[i][v] : sum[i][v];
    }
}

template <class T, int bytes, bool packed>
FORERUN_EACH void sums_of(int64_t vectors, int64_t terms, const T* a, int64_t a_step, const T* b, int64_t b_step, T* c,
                          int64_t c_step, bool add) {
  if (vectors == 1)
    sums<T, bytes, packed, 1>(terms, a, a_step, b, b_step, c, c_step, add);
  else if (vectors == 2)
    sums<T, bytes, packed, 2>(terms, a, a_step, b, b_step, c, c_step, add);
  else
    sums<T, bytes, packed, 3>(terms, a, a_step, b, b_step, c, c_step, add);
}

// Columns of b that are contiguous; those missing in the last vector are 0.
template <class T, int bytes>
FORERUN_EACH void pack_across(const MatrixView<T>& b, int64_t terms, int64_t columns, T* to, int64_t all_terms) {
  using V = typename Vector<T, bytes>::type;
  constexpr int64_t lanes = Sizes<T, bytes>::lanes;
  for (int64_t k = 0; k < terms; ++k, to += kGemmColumns) {
    const T* row = b.data + k * b.row_step;
    T* at = to;
    int64_t j = 0;
    for (; j + kGemmColumns <= columns; j += kGemmColumns, at += all_terms * kGemmColumns)
      for (int64_t v = 0; v < kGemmColumns; v += lanes)
        *reinterpret_cast<V*>(at + v) = *reinterpret_cast<const V*>(row + j + v);
    for (; j + lanes <= columns; j += lanes, at += lanes)
      *reinterpret_cast<V*>(at) = *reinterpret_cast<const V*>(row + j);
    for (int64_t e = 0; j < columns && e < lanes; ++e) at[e] = j + e < columns ? row[j + e] : T{};
  }
}

// Columns of b with any steps; faster if its rows are contiguous. Those missing in the last vector are 0, as garbage
// there may be denormal numbers, which take long.
template <class T, int bytes>
FORERUN_EACH void pack_down(const MatrixView<T>& b, int64_t terms, int64_t columns, T* to, int64_t all_terms) {
  for (int64_t j = 0; j < columns; j += kGemmColumns) {
    T* band = to + gemm_packed_at(0, j, all_terms);
    const MatrixView<T> from = b.at(0, j);
    const int64_t n = std::min(kGemmColumns, columns - j);
    if (b.row_step == 1) {
      transpose_in(reinterpret_cast<const char*>(from.data), b.column_step * static_cast<int64_t>(sizeof(T)), n, terms,
                   band, kGemmColumns);
    } else {
      for (int64_t k = 0; k < terms; ++k)
        for (int64_t e = 0; e < n; ++e) band[k * kGemmColumns + e] = *from.at(k, e).data;
    }
    const int64_t missing = round_up(n, Sizes<T, bytes>::lanes) - n;
    for (int64_t k = 0; k < terms && missing; ++k) std::fill_n(band + k * kGemmColumns + n, missing, T{});
  }
}

// Rows of a, as panels that have all terms; rows missing in the last panel are 0.
template <class T, int bytes>
FORERUN_EACH void pack_rows(const MatrixView<T>& a, int64_t rows, int64_t terms, T* to) {
  constexpr int panel = Sizes<T, bytes>::rows;
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T)), kAhead = 16;
  using V = typename Vector<T, panel * sizeof(T)>::type;
  int64_t whole = a.row_step == 1 ? rows / panel * panel : 0;
  for (int64_t k = 0; k < terms; ++k) {
    for (int64_t i = 0; i < whole; i += kLine) __builtin_prefetch(a.data + (k + kAhead) * a.column_step + i);
    for (int64_t i = 0; i < whole; i += panel)
      *reinterpret_cast<V*>(to + i * terms + k * panel) = *reinterpret_cast<const V*>(a.data + k * a.column_step + i);
  }
  for (int64_t i = whole; i < rows; i += panel)
    for (int64_t k = 0; k < terms; ++k)
      for (int64_t r = i; r < i + panel; ++r)
        to[i * terms + k * panel + r - i] = r < rows ? a.data[r * a.row_step + k * a.column_step] : T{};
}

// Packs columns of b, a part of a matrix of `all_terms`.
template <class T, int bytes>
FORERUN_EACH void pack(const MatrixView<T>& b, int64_t terms, int64_t columns, T* to, int64_t all_terms) {
  if (b.column_step == 1)
    pack_across<T, bytes>(b, terms, columns, to, all_terms);
  else
    pack_down<T, bytes>(b, terms, columns, to, all_terms);
}

// A block of b: elements from row to row of a band of columns, and from band to band.
template <class T>
struct Block {
  const T* data;
  int64_t step, band_step, terms, columns;

  static Block packed(const T* data, int64_t all_terms, int64_t terms, int64_t columns) {
    return {data, kGemmColumns, all_terms * kGemmColumns, terms, columns};
  }
  const T* at(int64_t column) const { return data + column / kGemmColumns * band_step + column % kGemmColumns; }
};

// c = a @ block, or c += a @ block.
template <class T, int bytes>
FORERUN_EACH void multiply(int64_t all_rows, const MatrixView<T>& a, const Block<T>& block, T* c, int64_t c_step,
                           bool add, T* room) {
  using Size = Sizes<T, bytes>;
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
  const int64_t terms = block.terms, columns = block.columns;
  const bool in_order = a.column_step == 1;  // otherwise only the rows missing in a panel require packing
  T *packed = room, *rest = room + kPacked * terms;
  for (int64_t i = 0; i < all_rows; i += Size::rows) {
    const int64_t rows = std::min<int64_t>(Size::rows, all_rows - i);
    const bool lies = in_order && rows == Size::rows;
    const T* panel = a.at(i, 0).data;
    if (in_order && !lies) {
      pack_rows<T, bytes>(a.at(i, 0), rows, terms, packed), panel = packed;
    } else if (!in_order) {
      if (i % kPacked == 0) pack_rows<T, bytes>(a.at(i, 0), std::min(kPacked, all_rows - i), terms, packed);
      panel = packed + i % kPacked * terms;
    }
    for (int64_t j = 0; j < columns; j += Size::strip) {
      const int64_t n = std::min(Size::strip, columns - j), vectors = ceil_div(n, Size::lanes);
      // A part of the next panel's rows; beyond the last row there may be no memory, which takes long to find out.
      for (int64_t k = terms * j / columns / kLine * kLine, end = lies ? terms * (j + n) / columns : 0; k < end;
           k += kLine)
        for (int64_t r = Size::rows, next = std::min<int64_t>(2 * Size::rows, all_rows - i); r < next; ++r)
          __builtin_prefetch(panel + r * a.row_step + k);
      const bool fits = rows == Size::rows && n == vectors * Size::lanes;
      T *to = c + i * c_step + j, *sums = fits ? to : rest;
      const int64_t sums_step = fits ? c_step : Size::strip;
      if (lies)
        sums_of<T, bytes, false>(vectors, terms, panel, a.row_step, block.at(j), block.step, sums, sums_step,
                                 add && fits);
      else
        sums_of<T, bytes, true>(vectors, terms, panel, 0, block.at(j), block.step, sums, sums_step, add && fits);
      if (fits) continue;
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t e = 0; e < n; ++e)
          to[r * c_step + e] = add ? to[r * c_step + e] + rest[r * sums_step + e] : rest[r * sums_step + e];
    }
  }
}

// The size of the pieces into which n is cut, at most `most`.
constexpr int64_t piece(int64_t n, int64_t most, int64_t unit) {
  return round_up(ceil_div(n, ceil_div(n, most)), unit);
}
constexpr int64_t deep(int64_t terms) { return piece(terms, kTerms, 1); }
template <class T>
constexpr int64_t wide(int64_t columns) {
  return piece(columns, kBlockBytes / static_cast<int64_t>(sizeof(T)), kGemmColumns);
}

// Calls f(k, terms, j, columns) for each block of b.
template <class T, class F>
FORERUN_EACH void each_block(int64_t terms, int64_t columns, F f) {
  const int64_t height = deep(terms), width = wide<T>(columns);
  for (int64_t j = 0; j < columns; j += width)
    for (int64_t k = 0; k < terms; k += height) f(k, std::min(height, terms - k), j, std::min(width, columns - j));
}

template <class T>
struct Product {
  int64_t rows, columns, terms;
  MatrixView<T> a, b;
  T* c;
  int64_t c_step;
  ScratchOwner owner;
  template <int bytes>
  FORERUN_EACH void run() const {
    const int64_t block_size = deep(terms) * wide<T>(columns),
                  blocks = ceil_div(terms, deep(terms)) * ceil_div(columns, wide<T>(columns));
    const bool all = owner.op != 0 && blocks * block_size * sizeof(T) <= kKept;
    const Scratch own = scratch_of(all ? owner : ScratchOwner{},
                                   static_cast<size_t>((all ? blocks : 1) * block_size + gemm_room(terms)) * sizeof(T));
    T *room = reinterpret_cast<T*>(own.data), *packed = room + gemm_room(terms);
    each_block<T>(terms, columns, [&](int64_t k, int64_t n_terms, int64_t j, int64_t n) __attribute__((always_inline)) {
      const MatrixView<T> from = b.at(k, j);
      const bool lies = b.column_step == 1 && n % Sizes<T, bytes>::lanes == 0;
      // A matrix that is kept must be packed by all tiles or none, however many rows they have.
      const bool in_place = lies && (b.row_step == n || (!all && (rows <= kFew || n_terms * n <= kSmall)));
      if (!in_place && !own.kept) pack<T, bytes>(from, n_terms, n, packed, n_terms);
      const Block<T> block = in_place ? Block<T>{from.data, b.row_step, kGemmColumns, n_terms, n}
                                      : Block<T>::packed(packed, n_terms, n_terms, n);
      multiply<T, bytes>(rows, a.at(0, k), block, c + j, c_step, k > 0, room);
      if (all) packed += block_size;
    });
  }
};

template <class T>
struct Packing {
  int64_t terms, columns;
  MatrixView<T> b;
  T* to;
  template <int bytes>
  FORERUN_EACH void run() const {
    pack<T, bytes>(b, terms, columns, to, terms);
  }
};

template <class T>
struct PackedProduct {
  int64_t rows, columns, terms;
  MatrixView<T> a;
  const T* b;
  T* c;
  int64_t c_step;
  bool add;
  T* room;
  template <int bytes>
  FORERUN_EACH void run() const {
    each_block<T>(terms, columns, [&](int64_t k, int64_t n_terms, int64_t j, int64_t n) __attribute__((always_inline)) {
      const Block<T> block = Block<T>::packed(b + gemm_packed_at(k, j, terms), terms, n_terms, n);
      multiply<T, bytes>(rows, a.at(0, k), block, c + j, c_step, add || k > 0, room);
    });
  }
};

}  // namespace

bool gemm_pays() {
  static const bool good = has_avx2();
  return good && tile_version != TileVersion::plain;
}

template <class T>
void gemm(int64_t rows, int64_t columns, int64_t terms, MatrixView<T> a, MatrixView<T> b, T* c, int64_t c_step,
          ScratchOwner owner) {
  in_best_version(Product<T>{rows, columns, terms, a, b, c, c_step, owner});
}

int64_t gemm_room(int64_t terms) { return kPacked * deep(terms) + kGemmRows * kGemmColumns; }

template <class T>
void gemm_pack(int64_t terms, int64_t columns, MatrixView<T> b, T* to) {
  in_best_version(Packing<T>{terms, columns, b, to});
}

template <class T>
void gemm_packed(int64_t rows, int64_t columns, int64_t terms, MatrixView<T> a, const T* b, T* c, int64_t c_step,
                 bool add, T* room) {
  in_best_version(PackedProduct<T>{rows, columns, terms, a, b, c, c_step, add, room});
}

template void gemm(int64_t, int64_t, int64_t, MatrixView<float>, MatrixView<float>, float*, int64_t, ScratchOwner);
template void gemm(int64_t, int64_t, int64_t, MatrixView<double>, MatrixView<double>, double*, int64_t, ScratchOwner);
template void gemm_pack(int64_t, int64_t, MatrixView<float>, float*);
template void gemm_pack(int64_t, int64_t, MatrixView<double>, double*);
template void gemm_packed(int64_t, int64_t, int64_t, MatrixView<float>, const float*, float*, int64_t, bool, float*);
template void gemm_packed(int64_t, int64_t, int64_t, MatrixView<double>, const double*, double*, int64_t, bool,
                          double*);

}  // namespace forerun
