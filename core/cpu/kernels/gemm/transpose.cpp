// Squares as wide as 16 bytes are transposed, as many at once as vectors hold. If the number of columns is not a
// multiple of that, the last square overlaps the one before.
#include "cpu/kernels/gemm/transpose.h"

#include <algorithm>
#include <utility>

#include "base/simd/simd_target.h"

namespace forerun {

namespace {

template <class T, int bytes>
using Of = typename Vector<T, bytes>::type;
template <class T>
constexpr int kSide = 16 / sizeof(T);  // of a square
template <class T, int bytes>
constexpr auto kAll = std::make_integer_sequence<int, bytes / sizeof(T)>();

template <class T, int bytes, int... i>
FORERUN_EACH Of<T, bytes> join(Of<T, bytes / 2> a, Of<T, bytes / 2> b, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(a, b, i...);
}
// Vectors of 16 bytes from addresses that are so many bytes apart.
template <class T, int bytes>
FORERUN_EACH Of<T, bytes> collect(const char* from, int64_t step) {
  if constexpr (bytes == 16)
    return *reinterpret_cast<const Of<T, 16>*>(from);
  else
    return join<T, bytes>(collect<T, bytes / 2>(from, step), collect<T, bytes / 2>(from + bytes / 32 * step, step),
                          kAll<T, bytes>);
}
template <class T, int bytes, int... i>
FORERUN_EACH Of<T, bytes / 2> half(Of<T, bytes> v, std::integer_sequence<int, i...>, int first) {
  return first ? __builtin_shufflevector(v, v, (static_cast<int>(sizeof...(i)) + i)...)
               : __builtin_shufflevector(v, v, i...);
}
// The inverse; step in elements.
template <class T, int bytes>
FORERUN_EACH void spread(Of<T, bytes> v, T* to, int64_t step) {
  if constexpr (bytes == 16) {
    *reinterpret_cast<Of<T, 16>*>(to) = v;
  } else {
    spread<T, bytes / 2>(half<T, bytes>(v, kAll<T, bytes / 2>, 0), to, step);
    spread<T, bytes / 2>(half<T, bytes>(v, kAll<T, bytes / 2>, 1), to + bytes / 32 * step, step);
  }
}

// Of each 16 bytes of a and b, the elements at these places.
template <class T, int bytes, int... places, int... i>
FORERUN_EACH Of<T, bytes> pick(Of<T, bytes> a, Of<T, bytes> b, std::integer_sequence<int, i...>) {
  constexpr int side = sizeof...(places), at[] = {places...}, all = sizeof...(i);
  return __builtin_shufflevector(a, b, (i / side * side + at[i % side] % side + at[i % side] / side * all)...);
}
template <class T, int bytes>
FORERUN_EACH void transpose_block(Of<T, bytes> (&v)[kSide<T>]) {
  constexpr auto all = kAll<T, bytes>;
  if constexpr (kSide<T> == 2) {
    Of<T, bytes> left = pick<T, bytes, 0, 2>(v[0], v[1], all);
    v[1] = pick<T, bytes, 1, 3>(v[0], v[1], all), v[0] = left;
  } else {
    Of<T, bytes> left = pick<T, bytes, 0, 4, 1, 5>(v[0], v[1], all),
                 lower = pick<T, bytes, 0, 4, 1, 5>(v[2], v[3], all);
    Of<T, bytes> right = pick<T, bytes, 2, 6, 3, 7>(v[0], v[1], all),
                 last = pick<T, bytes, 2, 6, 3, 7>(v[2], v[3], all);
    v[0] = pick<T, bytes, 0, 1, 4, 5>(left, lower, all), v[1] = pick<T, bytes, 2, 3, 6, 7>(left, lower, all);
    v[2] = pick<T, bytes, 0, 1, 4, 5>(right, last, all), v[3] = pick<T, bytes, 2, 3, 6, 7>(right, last, all);
  }
}

// Calls block(i, k, bytes) for squares from line i and column k on, and one(i, k) for elements outside of all squares.
template <class T, int bytes, class Block, class One>
FORERUN_EACH void each_square(int64_t first, int64_t lines, int64_t n, Block block, One one) {
  constexpr int64_t side = kSide<T>, at_once = bytes / sizeof(T);
  int64_t i = first;
  if (n >= side)
    for (; i + at_once <= lines; i += at_once)
      for (int64_t k = 0; k < n; k += side) block(i, std::min(k, n - side), std::integral_constant<int, bytes>());
  if constexpr (bytes > 16) {
    each_square<T, bytes / 2>(i, lines, n, block, one);
  } else {
    for (; i < lines; ++i)
      for (int64_t k = 0; k < n; ++k) one(i, k);
  }
}

template <class T>
struct TurnIn {
  const char* from;
  int64_t step, lines, n;
  T* to;
  int64_t places;

  template <int bytes>
  FORERUN_EACH void run() const {
    static constexpr int side = kSide<T>;
    auto at = [this](int64_t i, int64_t k) { return from + i * step + k * static_cast<int64_t>(sizeof(T)); };
    auto square = [&](int64_t i, int64_t k, auto size) __attribute__((always_inline)) {
      Of<T, size> v[side];
      for (int j = 0; j < side; ++j) v[j] = collect<T, size>(at(i + j, k), side * step);
      transpose_block<T, size>(v);
      for (int j = 0; j < side; ++j) *reinterpret_cast<Of<T, size>*>(to + (k + j) * places + i) = v[j];
    };
    each_square<T, bytes>(0, lines, n, square,
                          [&](int64_t i, int64_t k) { to[k * places + i] = *reinterpret_cast<const T*>(at(i, k)); });
  }
};

template <class T>
struct TurnOut {
  const T* from;
  int64_t places, lines, n;
  T* to;
  int64_t step;

  template <int bytes>
  FORERUN_EACH void run() const {
    static constexpr int side = kSide<T>;
    auto square = [this](int64_t i, int64_t k, auto size) __attribute__((always_inline)) {
      Of<T, size> v[side];
      for (int j = 0; j < side; ++j) v[j] = *reinterpret_cast<const Of<T, size>*>(from + (k + j) * places + i);
      transpose_block<T, size>(v);
      for (int j = 0; j < side; ++j) spread<T, size>(v[j], to + (i + j) * step + k, side * step);
    };
    each_square<T, bytes>(0, lines, n, square,
                          [this](int64_t i, int64_t k) { to[i * step + k] = from[k * places + i]; });
  }
};

}  // namespace

template <class T>
void transpose_in(const char* from, int64_t step, int64_t lines, int64_t n, T* to, int64_t places) {
  in_best_version(TurnIn<T>{from, step, lines, n, to, places});
}
template void transpose_in(const char*, int64_t, int64_t, int64_t, float*, int64_t);
template void transpose_in(const char*, int64_t, int64_t, int64_t, double*, int64_t);

void transpose_out(const float* from, int64_t places, int64_t lines, int64_t n, float* to, int64_t step) {
  in_best_version(TurnOut<float>{from, places, lines, n, to, step});
}

}  // namespace forerun
