// Squares of 4 x 4 elements are turned over, as many at once as vectors hold. Where a number of columns is not a multiple of 4, the last
// square has some of those before once more.
#include "kernels/turn.h"

#include <algorithm>
#include <utility>

#include "kernels/versions.h"

namespace forerun {

namespace {

template <int bytes>
constexpr auto kAll = std::make_integer_sequence<int, kPlaces<bytes>>();

template <int bytes, int... i>
FORERUN_EACH Floats<bytes> join(Floats<bytes / 2> a, Floats<bytes / 2> b, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(a, b, i...);
}
// A vector of 16 bytes each from places that are so many bytes apart.
template <int bytes>
FORERUN_EACH Floats<bytes> collect(const char* from, int64_t step) {
  if constexpr (bytes == 16)
    return *reinterpret_cast<const Floats<16>*>(from);
  else
    return join<bytes>(collect<bytes / 2>(from, step), collect<bytes / 2>(from + bytes / 32 * step, step), kAll<bytes>);
}
template <int bytes, int... i>
FORERUN_EACH Floats<bytes / 2> half(Floats<bytes> v, std::integer_sequence<int, i...>, int first) {
  return first ? __builtin_shufflevector(v, v, (kPlaces<bytes> / 2 + i)...) : __builtin_shufflevector(v, v, i...);
}
// The way back; step in elements.
template <int bytes>
FORERUN_EACH void spread(Floats<bytes> v, float* to, int64_t step) {
  if constexpr (bytes == 16) {
    *reinterpret_cast<Floats<16>*>(to) = v;
  } else {
    spread<bytes / 2>(half<bytes>(v, kAll<bytes / 2>, 0), to, step);
    spread<bytes / 2>(half<bytes>(v, kAll<bytes / 2>, 1), to + bytes / 32 * step, step);
  }
}

// Of each 16 bytes of a and b, the elements at these places.
template <int bytes, int p, int q, int r, int s, int... i>
FORERUN_EACH Floats<bytes> pick(Floats<bytes> a, Floats<bytes> b, std::integer_sequence<int, i...>) {
  constexpr int places[] = {p, q, r, s};
  return __builtin_shufflevector(a, b, (i / 4 * 4 + places[i % 4] % 4 + places[i % 4] / 4 * kPlaces<bytes>)...);
}
template <int bytes>
FORERUN_EACH void turn(Floats<bytes> (&v)[4]) {
  constexpr auto all = kAll<bytes>;
  Floats<bytes> left = pick<bytes, 0, 4, 1, 5>(v[0], v[1], all), lower = pick<bytes, 0, 4, 1, 5>(v[2], v[3], all);
  Floats<bytes> right = pick<bytes, 2, 6, 3, 7>(v[0], v[1], all), last = pick<bytes, 2, 6, 3, 7>(v[2], v[3], all);
  v[0] = pick<bytes, 0, 1, 4, 5>(left, lower, all), v[1] = pick<bytes, 2, 3, 6, 7>(left, lower, all);
  v[2] = pick<bytes, 0, 1, 4, 5>(right, last, all), v[3] = pick<bytes, 2, 3, 6, 7>(right, last, all);
}

// Calls block(i, k, bytes) for squares from line i and column k on, and one(i, k) for elements that are in none.
template <int bytes, class Block, class One>
FORERUN_EACH void each_square(int64_t first, int64_t lines, int64_t n, Block block, One one) {
  int64_t i = first;
  if (n >= 4)
    for (; i + kPlaces<bytes> <= lines; i += kPlaces<bytes>)
      for (int64_t k = 0; k < n; k += 4) block(i, std::min(k, n - 4), std::integral_constant<int, bytes>());
  if constexpr (bytes > 16) {
    each_square<bytes / 2>(i, lines, n, block, one);
  } else {
    for (; i < lines; ++i)
      for (int64_t k = 0; k < n; ++k) one(i, k);
  }
}

struct TurnIn {
  const char* from;
  int64_t step, lines, n;
  float* to;
  int64_t places;

  template <int bytes>
  FORERUN_EACH void run() const {
    auto at = [this](int64_t i, int64_t k) { return from + i * step + k * static_cast<int64_t>(sizeof(float)); };
    auto square = [&](int64_t i, int64_t k, auto size) __attribute__((always_inline)) {
      Floats<size> v[4];
      for (int j = 0; j < 4; ++j) v[j] = collect<size>(at(i + j, k), 4 * step);
      turn<size>(v);
      for (int j = 0; j < 4; ++j) *reinterpret_cast<Floats<size>*>(to + (k + j) * places + i) = v[j];
    };
    each_square<bytes>(0, lines, n, square, [&](int64_t i, int64_t k) { to[k * places + i] = *reinterpret_cast<const float*>(at(i, k)); });
  }
};

struct TurnOut {
  const float* from;
  int64_t places, lines, n;
  float* to;
  int64_t step;

  template <int bytes>
  FORERUN_EACH void run() const {
    auto square = [this](int64_t i, int64_t k, auto size) __attribute__((always_inline)) {
      Floats<size> v[4];
      for (int j = 0; j < 4; ++j) v[j] = *reinterpret_cast<const Floats<size>*>(from + (k + j) * places + i);
      turn<size>(v);
      for (int j = 0; j < 4; ++j) spread<size>(v[j], to + (i + j) * step + k, 4 * step);
    };
    each_square<bytes>(0, lines, n, square, [this](int64_t i, int64_t k) { to[i * step + k] = from[k * places + i]; });
  }
};

}  // namespace

void turn_in(const char* from, int64_t step, int64_t lines, int64_t n, float* to, int64_t places) { in_best_version(TurnIn{from, step, lines, n, to, places}); }
void turn_out(const float* from, int64_t places, int64_t lines, int64_t n, float* to, int64_t step) { in_best_version(TurnOut{from, places, lines, n, to, step}); }

}  // namespace forerun
