// Compiled with contraction to fused multiply-add (CMakeLists.txt).
#include "cpu/kernels/gemm/microkernel.h"

#include <algorithm>

#include "base/simd/simd_target.h"

namespace forerun {

namespace {

template <class T>
struct Tile {
  int64_t terms;
  const T* panel;
  const T* b;
  const int64_t* offsets;
  T* c;
  int64_t step;
  bool add;
  int rows;
  int64_t columns;
  template <int bytes>
  void run() const;
};

// Rows from `first` on, and columns that fill n vectors.
template <class T, int bytes, int rows, int n>
FORERUN_EACH void strip(const Tile<T>& t, int first, int64_t column) {
  using V = typename Vector<T, bytes>::type;
  constexpr int64_t places = bytes / sizeof(T);
  const T *panel = t.panel + first, *b = t.b + column;
  T* c = t.c + first * t.step + column;
  V sum[rows][n];
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < n; ++v) sum[i][v] = t.add ? *reinterpret_cast<const V*>(c + i * t.step + v * places) : V{};
  for (int64_t k = 0; k < t.terms; ++k, panel += kTileRows) {
    const T* row = b + t.offsets[k];
    V x[n];
    for (int v = 0; v < n; ++v) x[v] = *reinterpret_cast<const V*>(row + v * places);
    for (int i = 0; i < rows; ++i)
      for (int v = 0; v < n; ++v) sum[i][v] += panel[i] * x[v];
  }
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < n; ++v) *reinterpret_cast<V*>(c + i * t.step + v * places) = sum[i][v];
}

template <class T, int bytes, int rows>
FORERUN_EACH void strips(const Tile<T>& t, int first, int64_t columns) {
  constexpr int64_t places = bytes / sizeof(T);
  for (int64_t j = 0; j < columns;) {
    int64_t left = (columns - j) / places;
    if (left == 1) {
      strip<T, bytes, rows, 1>(t, first, j), j += places;
    } else if (left == 2 || left == 4) {
      strip<T, bytes, rows, 2>(t, first, j), j += 2 * places;
    } else {
      strip<T, bytes, rows, 3>(t, first, j), j += 3 * places;
    }
  }
}

// most: the number of rows that fit in the registers.
template <class T, int bytes, int most>
FORERUN_EACH void all_rows(const Tile<T>& t, int rows, int64_t columns) {
  int i = 0;
  if constexpr (most == 8)
    if (rows > 4) return strips<T, bytes, 8>(t, 0, columns);
  for (; i + 1 < rows; i += 4) strips<T, bytes, 4>(t, i, columns);
  if (i < rows) strips<T, bytes, 1>(t, i, columns);
}

template <class T>
template <int bytes>
FORERUN_EACH void Tile<T>::run() const {
  all_rows<T, bytes, bytes == 64 ? 8 : 4>(*this, rows, columns);
}

}  // namespace

template <class T>
void multiply_tile(int64_t terms, const T* panel, const T* b, const int64_t* offsets, T* c, int64_t step, int rows,
                   int64_t columns, bool add) {
  in_best_version(Tile<T>{terms, panel, b, offsets, c, step, add, rows, tile_columns<T>(columns)});
}

template void multiply_tile(int64_t, const float*, const float*, const int64_t*, float*, int64_t, int, int64_t, bool);
template void multiply_tile(int64_t, const double*, const double*, const int64_t*, double*, int64_t, int, int64_t,
                            bool);

}  // namespace forerun
