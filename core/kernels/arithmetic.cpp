#include "kernels/arithmetic.h"

#include <cstring>

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

// False: not a case that is known here.
template <class T, class F>
[[gnu::always_inline]] inline bool binary(char** args, intptr_t n, const intptr_t* steps, F f) {
  constexpr intptr_t kSize = sizeof(T);
  if (steps[2] != kSize || n <= 0) return false;
  for (int k = 0; k < 2; ++k) {
    if (steps[k] != kSize && steps[k] != 0) return false;
    intptr_t bytes = steps[k] == 0 ? kSize : n * kSize;
    bool same = args[k] == args[2] && steps[k] != 0;
    if (!same && args[k] < args[2] + n * kSize && args[2] < args[k] + bytes) return false;  // they overlap
  }
  auto* a = reinterpret_cast<const T*>(args[0]);
  auto* b = reinterpret_cast<const T*>(args[1]);
  auto* out = reinterpret_cast<T*>(args[2]);
  bool one_a = steps[0] == 0, one_b = steps[1] == 0;
  if (one_a && one_b) return false;
  if (one_a)
    each<T, true, false>(a, b, out, n, f);
  else if (one_b)
    each<T, false, true>(a, b, out, n, f);
  else
    each<T, false, false>(a, b, out, n, f);
  return true;
}

void call(void* data, char** args, const intptr_t* n, const intptr_t* steps) {
  auto* numpy = static_cast<const Loop*>(data);
  numpy->function(args, n, steps, numpy->data);
}

#define FORERUN_ARITHMETIC(name, T, sign)                                                                        \
  FORERUN_CLONES void name(char** args, const intptr_t* n, const intptr_t* steps, void* data) {                  \
    if (!binary<T>(args, *n, steps, [](auto a, auto b) __attribute__((always_inline)) { return a sign b; })) call(data, args, n, steps); \
  }

FORERUN_ARITHMETIC(add_f32, float, +)
FORERUN_ARITHMETIC(add_f64, double, +)
FORERUN_ARITHMETIC(subtract_f32, float, -)
FORERUN_ARITHMETIC(subtract_f64, double, -)
FORERUN_ARITHMETIC(multiply_f32, float, *)
FORERUN_ARITHMETIC(multiply_f64, double, *)

#define FORERUN_SQUARE(name, T)                                                                                  \
  FORERUN_CLONES void name(char** args, const intptr_t* n, const intptr_t* steps, void* data) {                  \
    char* twice[3] = {args[0], args[0], args[1]};                                                                \
    const intptr_t by[3] = {steps[0], steps[0], steps[1]};                                                       \
    if (!binary<T>(twice, *n, by, [](auto a, auto b) __attribute__((always_inline)) { return a * b; })) call(data, args, n, steps); \
  }

FORERUN_SQUARE(square_f32, float)
FORERUN_SQUARE(square_f64, double)

struct Known {
  const char* ufunc;
  LoopFunction f32, f64;
};

}  // namespace

Loop arithmetic_loop(const char* ufunc, DType dtype, Loop numpy) {
  const Known known[] = {{"add", add_f32, add_f64}, {"subtract", subtract_f32, subtract_f64}, {"multiply", multiply_f32, multiply_f64}, {"square", square_f32, square_f64}};
  if (dtype != DType::f32 && dtype != DType::f64) return numpy;
  for (const Known& k : known) {
    if (std::strcmp(k.ufunc, ufunc) != 0) continue;
    Loop own = numpy;
    own.function = dtype == DType::f32 ? k.f32 : k.f64;
    own.data = new Loop(numpy);  // never freed, as ops that are under way may use it
    return own;
  }
  return numpy;
}

}  // namespace forerun
