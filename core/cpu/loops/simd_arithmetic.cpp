#include "cpu/loops/simd_arithmetic.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/simd/simd_target.h"

namespace forerun {

namespace {

template <class T, size_t bytes = 64>
struct Lanes {
  static constexpr intptr_t kCount = bytes / sizeof(T);
  typedef T Vector __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias));
};

// out[i] = f(a[i], b[i]). A template for each kind of input, so that the loop has no branches. Rows are most often
// short: the part that does not fill a vector is done with shorter vectors.
template <class T, bool one_a, bool one_b, class F>
[[gnu::always_inline]] inline void each(const T* a, const T* b, T* out, intptr_t n, F f) {
  const T x = *a, y = *b;  // before any write
  intptr_t i = 0;
  auto vector = [&](auto lanes) __attribute__((always_inline)) {
    using Vector = typename decltype(lanes)::Vector;
    const Vector va = one_a ? x - Vector{} : *reinterpret_cast<const Vector*>(a + i);
    const Vector vb = one_b ? y - Vector{} : *reinterpret_cast<const Vector*>(b + i);
    *reinterpret_cast<Vector*>(out + i) = f(va, vb);
    i += lanes.kCount;
  };
  while (i + Lanes<T>::kCount <= n) vector(Lanes<T>{});
  if (i + Lanes<T, 32>::kCount <= n) vector(Lanes<T, 32>{});
  if (i + Lanes<T, 16>::kCount <= n) vector(Lanes<T, 16>{});
  for (; i < n; ++i) out[i] = f(one_a ? x : a[i], one_b ? y : b[i]);
}

// out[i] = f(out[i], in[i]) for row after row of `in`: some rows at a time, so that `out` is seldom loaded and stored,
// and few enough that they are read from memory one after the other.
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

// Whether an operand is supported: its elements are consecutive, or one element serves the whole row; and none of them
// is written before it has been read.
template <class T>
[[gnu::always_inline]] inline bool known(char** args, intptr_t rows, intptr_t n, const intptr_t* steps,
                                         const intptr_t* pitches, int k, int out) {
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

// Whether the two inputs of an operation are supported, and do not both have one element.
template <class T>
[[gnu::always_inline]] inline bool both_known(char** args, intptr_t rows, intptr_t n, const intptr_t* steps,
                                              const intptr_t* pitches) {
  if (steps[2] != sizeof(T) || n <= 0 || (steps[0] == 0 && steps[1] == 0)) return false;
  return known<T>(args, rows, n, steps, pitches, 0, 2) && known<T>(args, rows, n, steps, pitches, 1, 2);
}

// Calls f(a, b) with types that say which of two inputs has one element for the whole row; not both have.
template <class F>
[[gnu::always_inline]] inline void by_ones(const intptr_t* steps, F f) {
  if (steps[0] == 0)
    f(std::true_type{}, std::false_type{});
  else if (steps[1] == 0)
    f(std::false_type{}, std::true_type{});
  else
    f(std::false_type{}, std::false_type{});
}

// False: a case that is not supported here.
template <class T, class F>
[[gnu::always_inline]] inline bool binary(char** args, intptr_t rows, intptr_t n, const intptr_t* steps,
                                          const intptr_t* pitches, F f) {
  if (!both_known<T>(args, rows, n, steps, pitches)) return false;
  if (rows > 1 && args[0] == args[2] && args[1] != args[2] && pitches[0] == 0 && pitches[2] == 0 && steps[0] != 0 &&
      steps[1] != 0) {
    fold(reinterpret_cast<T*>(args[2]), args[1], rows, pitches[1], n, f);
    return true;
  }
  by_ones(steps, [&](auto one_a, auto one_b) __attribute__((always_inline)) {
    char *a = args[0], *b = args[1], *out = args[2];
    for (intptr_t row = 0; row < rows; ++row, a += pitches[0], b += pitches[1], out += pitches[2])
      each<T, one_a.value, one_b.value>(reinterpret_cast<const T*>(a), reinterpret_cast<const T*>(b),
                                        reinterpret_cast<T*>(out), n, f);
  });
  return true;
}

void call(void* data, int operands, char** args, intptr_t rows, intptr_t n, const intptr_t* steps,
          const intptr_t* pitches) {
  auto* numpy = static_cast<const Loop*>(data);
  char* at[3];
  for (intptr_t row = 0; row < rows; ++row) {
    for (int k = 0; k < operands; ++k) at[k] = args[k] + row * pitches[k];
    numpy->function(at, &n, steps, numpy->data);
  }
}

// A loop over rows, and the same for one row.
#define FORERUN_ARITHMETIC(name, T, result)                                                         \
  FORERUN_CLONES void name##_rows(char** args, intptr_t rows, intptr_t n, const intptr_t* steps,    \
                                  const intptr_t* pitches, void* data) {                            \
    auto f = [](auto a, auto b) __attribute__((always_inline)) { return result; };                  \
    if (!binary<T>(args, rows, n, steps, pitches, f)) call(data, 3, args, rows, n, steps, pitches); \
  }                                                                                                 \
  FORERUN_CLONES void name(char** args, const intptr_t* n, const intptr_t* steps, void* data) {     \
    auto f = [](auto a, auto b) __attribute__((always_inline)) { return result; };                  \
    if (!binary<T>(args, 1, *n, steps, steps, f)) call(data, 3, args, 1, *n, steps, steps);         \
  }

FORERUN_ARITHMETIC(add_f32, float, a + b)
FORERUN_ARITHMETIC(add_f64, double, a + b)
FORERUN_ARITHMETIC(subtract_f32, float, a - b)
FORERUN_ARITHMETIC(subtract_f64, double, a - b)
FORERUN_ARITHMETIC(multiply_f32, float, (a * b))
FORERUN_ARITHMETIC(multiply_f64, double, (a * b))
FORERUN_ARITHMETIC(divide_f32, float, a / b)
FORERUN_ARITHMETIC(divide_f64, double, a / b)

// out[i] = f(a[i], b[i]) where the compiler's own vectorisation is better. False: a case that is not supported here.
template <class T, class F>
[[gnu::always_inline]] inline bool choose(char** args, intptr_t n, const intptr_t* steps, F f) {
  if (!both_known<T>(args, 1, n, steps, steps)) return false;
  auto *a = reinterpret_cast<const T*>(args[0]), *b = reinterpret_cast<const T*>(args[1]);
  auto* out = reinterpret_cast<T*>(args[2]);
  const T x = *a, y = *b;
  by_ones(steps, [&](auto one_a, auto one_b) __attribute__((always_inline)) {
#pragma GCC ivdep
    for (intptr_t i = 0; i < n; ++i) out[i] = f(one_a.value ? x : a[i], one_b.value ? y : b[i]);
  });
  return true;
}

// A first operand that is NaN is the result; of two zeros the second one. NumPy's loops are slow if an operand is a
// single number.
#define FORERUN_CHOICE(name, T, sign)                                                            \
  FORERUN_CLONES void name(char** args, const intptr_t* n, const intptr_t* steps, void* data) {  \
    auto f = [](T a, T b) __attribute__((always_inline)) { return a sign b || a != a ? a : b; }; \
    if (!choose<T>(args, *n, steps, f)) call(data, 3, args, 1, *n, steps, steps);                \
  }

FORERUN_CHOICE(minimum_f32, float, <)
FORERUN_CHOICE(minimum_f64, double, <)
FORERUN_CHOICE(maximum_f32, float, >)
FORERUN_CHOICE(maximum_f64, double, >)

FORERUN_CHOICE(minimum_i8, int8_t, <)
FORERUN_CHOICE(minimum_i16, int16_t, <)
FORERUN_CHOICE(minimum_i32, int32_t, <)
FORERUN_CHOICE(minimum_i64, int64_t, <)
FORERUN_CHOICE(minimum_u8, uint8_t, <)
FORERUN_CHOICE(minimum_u16, uint16_t, <)
FORERUN_CHOICE(minimum_u32, uint32_t, <)
FORERUN_CHOICE(minimum_u64, uint64_t, <)
FORERUN_CHOICE(maximum_i8, int8_t, >)
FORERUN_CHOICE(maximum_i16, int16_t, >)
FORERUN_CHOICE(maximum_i32, int32_t, >)
FORERUN_CHOICE(maximum_i64, int64_t, >)
FORERUN_CHOICE(maximum_u8, uint8_t, >)
FORERUN_CHOICE(maximum_u16, uint16_t, >)
FORERUN_CHOICE(maximum_u32, uint32_t, >)
FORERUN_CHOICE(maximum_u64, uint64_t, >)

// In the order of DType.
constexpr LoopFunction kLeastInteger[] = {minimum_i8, minimum_i16, minimum_i32, minimum_i64,
                                          minimum_u8, minimum_u16, minimum_u32, minimum_u64},
                       kGreatestInteger[] = {maximum_i8, maximum_i16, maximum_i32, maximum_i64,
                                             maximum_u8, maximum_u16, maximum_u32, maximum_u64};

// Of one operand: only the sign changes. NumPy's loops read the processor's flags in each call, which takes as long as
// a short block does.
#define FORERUN_SIGN(name, T, result)                                                                          \
  FORERUN_CLONES void name(char** args, const intptr_t* n, const intptr_t* steps, void* data) {                \
    const bool dense = *n > 0 && steps[0] == sizeof(T) && steps[1] == sizeof(T);                               \
    if (!dense || !known<T>(args, 1, *n, steps, steps, 0, 1)) return call(data, 2, args, 1, *n, steps, steps); \
    auto* in = reinterpret_cast<const T*>(args[0]);                                                            \
    auto* out = reinterpret_cast<T*>(args[1]);                                                                 \
    const intptr_t count = *n;                                                                                 \
    _Pragma("GCC ivdep") for (intptr_t i = 0; i < count; ++i) {                                                \
      const T a = in[i];                                                                                       \
      out[i] = result;                                                                                         \
    }                                                                                                          \
  }

FORERUN_SIGN(negative_f32, float, -a)
FORERUN_SIGN(negative_f64, double, -a)
FORERUN_SIGN(absolute_f32, float, __builtin_fabsf(a))
FORERUN_SIGN(absolute_f64, double, __builtin_fabs(a))

#define FORERUN_SQUARE(name, T)                                                                             \
  FORERUN_CLONES void name##_rows(char** args, intptr_t rows, intptr_t n, const intptr_t* steps,            \
                                  const intptr_t* pitches, void* data) {                                    \
    char* twice[3] = {args[0], args[0], args[1]};                                                           \
    const intptr_t by[3] = {steps[0], steps[0], steps[1]}, apart[3] = {pitches[0], pitches[0], pitches[1]}; \
    auto f = [](auto a, auto b) __attribute__((always_inline)) { return a * b; };                           \
    if (!binary<T>(twice, rows, n, by, apart, f)) call(data, 2, args, rows, n, steps, pitches);             \
  }                                                                                                         \
  void name(char** args, const intptr_t* n, const intptr_t* steps, void* data) {                            \
    name##_rows(args, 1, *n, steps, steps, data);                                                           \
  }

FORERUN_SQUARE(square_f32, float)
FORERUN_SQUARE(square_f64, double)

// --- two steps at once -----------------------------------------------------------------------------------------------

// out = a `what` b, by reference: vectors are not returned by value where the CPU may lack them.
template <Formula what, class V>
[[gnu::always_inline]] inline void compute(V& out, const V& a, const V& b) {
  if constexpr (what == Formula::add) out = a + b;
  if constexpr (what == Formula::subtract) out = a - b;
  if constexpr (what == Formula::multiply) out = a * b;
  if constexpr (what == Formula::divide) out = a / b;
}

// out[i] = f(a[i], b[i], c[i]); operands in `ones` have one element for the whole row.
template <class T, unsigned ones, class F>
[[gnu::always_inline]] inline void each_of_three(char** args, intptr_t n, F f) {
  using Vector = typename Lanes<T>::Vector;
  constexpr intptr_t kCount = Lanes<T>::kCount;
  const T *a = reinterpret_cast<const T*>(args[0]), *b = reinterpret_cast<const T*>(args[1]),
          *c = reinterpret_cast<const T*>(args[2]);
  T* out = reinterpret_cast<T*>(args[3]);
  const T x = *a, y = *b, z = *c;  // before any write
  const Vector xs = x - Vector{}, ys = y - Vector{}, zs = z - Vector{};
  intptr_t i = 0;
  for (; i + kCount <= n; i += kCount) {
    const Vector va = ones & 1 ? xs : *reinterpret_cast<const Vector*>(a + i),
                 vb = ones & 2 ? ys : *reinterpret_cast<const Vector*>(b + i);
    *reinterpret_cast<Vector*>(out + i) = f(va, vb, ones & 4 ? zs : *reinterpret_cast<const Vector*>(c + i));
  }
  for (; i < n; ++i) out[i] = f(ones & 1 ? x : a[i], ones & 2 ? y : b[i], ones & 4 ? z : c[i]);
}

template <class T, Formula first, Formula second, bool left>
struct Pair {
  FORERUN_CLONES static void run(char** args, const intptr_t* n, const intptr_t* steps, void*) {
    auto f = [](auto a, auto b, auto c) __attribute__((always_inline)) {
      decltype(a) x, y;
      compute<first>(x, a, b);
      left ? compute<second>(y, x, c) : compute<second>(y, c, x);
      return y;
    };
    switch ((steps[0] == 0) | (steps[1] == 0) << 1 | (steps[2] == 0) << 2) {
      case 0: return each_of_three<T, 0>(args, *n, f);
      case 1: return each_of_three<T, 1>(args, *n, f);
      case 2: return each_of_three<T, 2>(args, *n, f);
      case 4: return each_of_three<T, 4>(args, *n, f);
      case 5: return each_of_three<T, 5>(args, *n, f);
      default: return each_of_three<T, 6>(args, *n, f);
    }
  }
};

// square(first(a, b))
template <class T, Formula first>
struct Squared {
  FORERUN_CLONES static void run(char** args, const intptr_t* n, const intptr_t* steps, void*) {
    auto f = [](auto a, auto b) __attribute__((always_inline)) {
      decltype(a) x;
      compute<first>(x, a, b);
      return x * x;
    };
    auto *a = reinterpret_cast<const T*>(args[0]), *b = reinterpret_cast<const T*>(args[1]);
    T* out = reinterpret_cast<T*>(args[2]);
    by_ones(steps, [&](auto one_a, auto one_b)
                       __attribute__((always_inline)) { each<T, one_a.value, one_b.value>(a, b, out, *n, f); });
  }
};

constexpr int kPairs = 4;       // kinds of arithmetic that may be in one
constexpr int kArithmetic = 5;  // the first of the table
constexpr Formula kind(int i) { return static_cast<Formula>(i + 1); }

template <class T, int... i>
LoopFunction pair_function(int which, std::integer_sequence<int, i...>) {
  static constexpr LoopFunction all[] = {Pair<T, kind(i / 2 / kPairs), kind(i / 2 % kPairs), (i % 2 == 1)>::run...};
  return all[which];
}

template <class T, int... i>
LoopFunction squared_function(int which, std::integer_sequence<int, i...>) {
  static constexpr LoopFunction all[] = {Squared<T, kind(i)>::run...};
  return all[which];
}

struct Known {
  LoopFunction f32, f64;
  RowsFunction rows_f32, rows_f64;
  int inputs = 2;  // where bits are compared with NumPy's
};

// Whether two loops of one or two inputs give the same bits for values that versions and CPUs may treat differently.
template <class T>
bool agree(const Loop& one, const Loop& other, int inputs) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity(), kNaN = std::numeric_limits<T>::quiet_NaN();
  constexpr T kSpecial[] = {0, -T{0}, 1, -1, kInfinity, -kInfinity, kNaN, -kNaN};
  constexpr intptr_t kMany = std::size(kSpecial) * 9;
  T values[kMany], from_one[kMany], from_other[kMany];
  for (intptr_t i = 0; i < kMany; ++i) values[i] = kSpecial[i % std::size(kSpecial)];
  auto same = [&](T* a, T* b, intptr_t step_a, intptr_t step_b) {
    const intptr_t n = kMany - static_cast<intptr_t>(std::size(kSpecial)), steps[] = {step_a, step_b, sizeof(T)};
    auto run = [&](const Loop& loop, T* to) {
      char* args[] = {reinterpret_cast<char*>(a), reinterpret_cast<char*>(b), reinterpret_cast<char*>(to)};
      loop.function(args + 2 - inputs, &n, steps + 2 - inputs, loop.data);
    };
    run(one, from_one), run(other, from_other);
    return std::memcmp(from_one, from_other, static_cast<size_t>(n) * sizeof(T)) == 0;
  };
  bool all = true;
  for (size_t i = 0; i < std::size(kSpecial); ++i)
    all = all && same(values + i, values, 0, sizeof(T)) && same(values, values + i, sizeof(T), 0) &&
          same(values + i, values, sizeof(T), sizeof(T));
  return all;
}

}  // namespace

Loop arithmetic_loop(Formula formula, DType dtype, Loop numpy) {
#define FORERUN_KNOWN(name) {name##_f32, name##_f64, name##_f32_rows, name##_f64_rows}
  static const Known known[] = {FORERUN_KNOWN(add),  // in the order of Formula
                                FORERUN_KNOWN(subtract),
                                FORERUN_KNOWN(multiply),
                                FORERUN_KNOWN(divide),
                                FORERUN_KNOWN(square),
                                {minimum_f32, minimum_f64, nullptr, nullptr},
                                {maximum_f32, maximum_f64, nullptr, nullptr},
                                {negative_f32, negative_f64, nullptr, nullptr, 1},
                                {absolute_f32, absolute_f64, nullptr, nullptr, 1}};
#undef FORERUN_KNOWN
  if (is_integer(dtype) && (formula == Formula::minimum || formula == Formula::maximum)) {
    const int i = static_cast<int>(dtype) - static_cast<int>(DType::i8);
    Loop own = numpy;
    own.function = formula == Formula::minimum ? kLeastInteger[i] : kGreatestInteger[i];
    auto* fallback = new Loop(numpy);  // never freed, as below
    own.data = fallback, own.fallback = fallback;
    return own;
  }
  const int number = static_cast<int>(formula) - 1;
  if ((dtype != DType::f32 && dtype != DType::f64) || number < 0 || number >= static_cast<int>(std::size(known)))
    return numpy;
  const bool single = dtype == DType::f32;
  const Known& k = known[number];
  Loop own = numpy;
  own.function = single ? k.f32 : k.f64;
  own.rows = single ? k.rows_f32 : k.rows_f64;
  auto* fallback = new Loop(numpy);  // never freed, as pending ops may use it
  own.data = fallback, own.fallback = fallback;
  const bool exact = number < kArithmetic;  // whatever the version of NumPy and the processor
  if (!exact && !(single ? agree<float>(own, numpy, k.inputs) : agree<double>(own, numpy, k.inputs))) return numpy;
  own.formula = formula;
  if (exact) own.pair_dtype = dtype;
  return own;
}

Loop pair_loop(const Loop& first, const Loop& second, bool left) {
  auto number = [](Formula a) { return a == Formula::square ? 2 : static_cast<int>(a) - 1; };  // a * a
  const bool single = first.pair_dtype == DType::f32;
  Loop both;
  if (second.formula == Formula::square) {
    constexpr auto all = std::make_integer_sequence<int, kPairs>();
    const int which = number(first.formula);
    both.function = single ? squared_function<float>(which, all) : squared_function<double>(which, all);
  } else {
    constexpr auto all = std::make_integer_sequence<int, 2 * kPairs * kPairs>();
    const int which = 2 * (number(first.formula) * kPairs + number(second.formula)) + left;
    both.function = single ? pair_function<float>(which, all) : pair_function<double>(which, all);
  }
  return both;
}

}  // namespace forerun
