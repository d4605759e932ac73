#include "kernels/arithmetic.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/clones.h"

namespace forerun {

namespace {

template <class T>
struct Lanes {
  static constexpr intptr_t kCount = 64 / sizeof(T);
  typedef T Vector __attribute__((vector_size(64), aligned(sizeof(T)), may_alias));
};

// out[i] = f(a[i], b[i]). A template for each kind of input, so that the loop does not ask.
template <class T, bool one_a, bool one_b, class F>
[[gnu::always_inline]] inline void each(const T* a, const T* b, T* out, intptr_t n, F f) {
  using Vector = typename Lanes<T>::Vector;
  constexpr intptr_t kCount = Lanes<T>::kCount;
  const T x = *a, y = *b;  // before anything is written
  const Vector xs = x - Vector{}, ys = y - Vector{};
  intptr_t i = 0;
  for (; i + kCount <= n; i += kCount) {
    Vector va = one_a ? xs : *reinterpret_cast<const Vector*>(a + i), vb = one_b ? ys : *reinterpret_cast<const Vector*>(b + i);
    *reinterpret_cast<Vector*>(out + i) = f(va, vb);
  }
  for (; i < n; ++i) out[i] = f(one_a ? x : a[i], one_b ? y : b[i]);
}

// out[i] = f(out[i], in[i]) for row after row of `in`: some rows at a time, so that what stands in `out` is seldom loaded and stored, and
// few enough that they come from memory one after the other.
template <class T, class F>
[[gnu::always_inline]] inline void fold(T* out, const char* in, intptr_t rows, intptr_t pitch, intptr_t n, F f) {
  using Vector = typename Lanes<T>::Vector;
  constexpr intptr_t kCount = Lanes<T>::kCount, kStrip = 4 * kCount, kRows = 8;
  auto at = [&](intptr_t row, intptr_t i) { return reinterpret_cast<const T*>(in + row * pitch) + i; };
  for (intptr_t first = 0; first < rows; first += kRows) {
    const intptr_t last = std::min(rows, first + kRows);
    intptr_t i = 0;
    for (; i + kStrip <= n; i += kStrip) {
      Vector sums[4];
      for (int k = 0; k < 4; ++k) sums[k] = *reinterpret_cast<const Vector*>(out + i + k * kCount);
      for (intptr_t row = first; row < last; ++row)
        for (int k = 0; k < 4; ++k) sums[k] = f(sums[k], *reinterpret_cast<const Vector*>(at(row, i + k * kCount)));
      for (int k = 0; k < 4; ++k) *reinterpret_cast<Vector*>(out + i + k * kCount) = sums[k];
    }
    for (; i < n; ++i)
      for (intptr_t row = first; row < last; ++row) out[i] = f(out[i], *at(row, i));
  }
}

// Whether an operand can be walked: its elements follow one another, or there is one for the whole row; and none of them is written before
// it has been read.
template <class T>
[[gnu::always_inline]] inline bool known(char** args, intptr_t rows, intptr_t n, const intptr_t* steps, const intptr_t* pitches, int k, int out) {
  constexpr intptr_t kSize = sizeof(T);
  if (steps[k] != kSize && steps[k] != 0) return false;
  if (args[k] == args[out] && steps[k] != 0 && (rows == 1 || pitches[k] == pitches[out])) return true;
  auto reach = [&](int i, intptr_t length) {
    intptr_t last = (rows - 1) * pitches[i];
    return std::pair{args[i] + std::min<intptr_t>(0, last), args[i] + std::max<intptr_t>(0, last) + length * kSize};
  };
  auto [from, to] = reach(k, steps[k] == 0 ? 1 : n);
  auto [first, end] = reach(out, n);
  return from >= end || first >= to;
}

// False: not a case that is known here.
template <class T, class F>
[[gnu::always_inline]] inline bool binary(char** args, intptr_t rows, intptr_t n, const intptr_t* steps, const intptr_t* pitches, F f) {
  bool one_a = steps[0] == 0, one_b = steps[1] == 0;
  if (steps[2] != sizeof(T) || n <= 0 || (one_a && one_b)) return false;
  for (int k = 0; k < 2; ++k)
    if (!known<T>(args, rows, n, steps, pitches, k, 2)) return false;
  if (rows > 1 && args[0] == args[2] && args[1] != args[2] && pitches[0] == 0 && pitches[2] == 0 && !one_a && !one_b) {
    fold(reinterpret_cast<T*>(args[2]), args[1], rows, pitches[1], n, f);
    return true;
  }
  auto all = [&](auto a_is_one, auto b_is_one) __attribute__((always_inline)) {
    char *a = args[0], *b = args[1], *out = args[2];
    for (intptr_t row = 0; row < rows; ++row, a += pitches[0], b += pitches[1], out += pitches[2])
      each<T, a_is_one.value, b_is_one.value>(reinterpret_cast<const T*>(a), reinterpret_cast<const T*>(b), reinterpret_cast<T*>(out), n, f);
  };
  if (one_a)
    all(std::true_type{}, std::false_type{});
  else if (one_b)
    all(std::false_type{}, std::true_type{});
  else
    all(std::false_type{}, std::false_type{});
  return true;
}

void call(void* data, int operands, char** args, intptr_t rows, intptr_t n, const intptr_t* steps, const intptr_t* pitches) {
  auto* numpy = static_cast<const Loop*>(data);
  char* at[3];
  for (intptr_t row = 0; row < rows; ++row) {
    for (int k = 0; k < operands; ++k) at[k] = args[k] + row * pitches[k];
    numpy->function(at, &n, steps, numpy->data);
  }
}

// A loop over rows, and the same for one row.
#define FORERUN_ARITHMETIC(name, T, sign)                                                                                              \
  FORERUN_CLONES void name##_rows(char** args, intptr_t rows, intptr_t n, const intptr_t* steps, const intptr_t* pitches, void* data) { \
    auto f = [](auto a, auto b) __attribute__((always_inline)) { return a sign b; };                                                   \
    if (!binary<T>(args, rows, n, steps, pitches, f)) call(data, 3, args, rows, n, steps, pitches);                                    \
  }                                                                                                                                    \
  FORERUN_CLONES void name(char** args, const intptr_t* n, const intptr_t* steps, void* data) {                                        \
    auto f = [](auto a, auto b) __attribute__((always_inline)) { return a sign b; };                                                   \
    if (!binary<T>(args, 1, *n, steps, steps, f)) call(data, 3, args, 1, *n, steps, steps);                                            \
  }

FORERUN_ARITHMETIC(add_f32, float, +)
FORERUN_ARITHMETIC(add_f64, double, +)
FORERUN_ARITHMETIC(subtract_f32, float, -)
FORERUN_ARITHMETIC(subtract_f64, double, -)
FORERUN_ARITHMETIC(multiply_f32, float, *)
FORERUN_ARITHMETIC(multiply_f64, double, *)
FORERUN_ARITHMETIC(divide_f32, float, /)
FORERUN_ARITHMETIC(divide_f64, double, /)

#define FORERUN_SQUARE(name, T)                                                                                                        \
  FORERUN_CLONES void name##_rows(char** args, intptr_t rows, intptr_t n, const intptr_t* steps, const intptr_t* pitches, void* data) { \
    char* twice[3] = {args[0], args[0], args[1]};                                                                                      \
    const intptr_t by[3] = {steps[0], steps[0], steps[1]}, apart[3] = {pitches[0], pitches[0], pitches[1]};                            \
    auto f = [](auto a, auto b) __attribute__((always_inline)) { return a * b; };                                                      \
    if (!binary<T>(twice, rows, n, by, apart, f)) call(data, 2, args, rows, n, steps, pitches);                                        \
  }                                                                                                                                    \
  void name(char** args, const intptr_t* n, const intptr_t* steps, void* data) { name##_rows(args, 1, *n, steps, steps, data); }

FORERUN_SQUARE(square_f32, float)
FORERUN_SQUARE(square_f64, double)

struct Known {
  const char* ufunc;
  LoopFunction f32, f64;
  RowsFunction rows_f32, rows_f64;
};

}  // namespace

Loop arithmetic_loop(const char* ufunc, DType dtype, Loop numpy) {
#define FORERUN_KNOWN(name) {#name, name##_f32, name##_f64, name##_f32_rows, name##_f64_rows}
  const Known known[] = {FORERUN_KNOWN(add), FORERUN_KNOWN(subtract), FORERUN_KNOWN(multiply), FORERUN_KNOWN(divide), FORERUN_KNOWN(square)};
  if (dtype != DType::f32 && dtype != DType::f64) return numpy;
  for (const Known& k : known) {
    if (std::strcmp(k.ufunc, ufunc) != 0) continue;
    Loop own = numpy;
    own.function = dtype == DType::f32 ? k.f32 : k.f64;
    own.rows = dtype == DType::f32 ? k.rows_f32 : k.rows_f64;
    own.data = new Loop(numpy);  // never freed, as ops that are under way may use it
    return own;
  }
  return numpy;
}

}  // namespace forerun
