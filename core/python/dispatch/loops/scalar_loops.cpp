#include "python/dispatch/loops/scalar_loops.h"

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>

#include "base/dtype.h"
#include "cpu/loops/item.h"
#include "cpu/loops/loop.h"
#include "python/dispatch/loops/loop_table.h"
#include "python/dispatch/ufunc_type.h"

namespace forerun {

namespace {

constexpr uint8_t kEighths = 160;  // of a nanosecond for an element: a call of the C library

template <class T>
void powers(char** args, const intptr_t* n, const intptr_t* steps, void*) {
  for (intptr_t i = 0; i < *n; ++i) {
    const T y = std::pow(load<T>(args[0] + i * steps[0]), load<T>(args[1] + i * steps[1]));
    std::memcpy(args[2] + i * steps[2], &y, sizeof y);
  }
}

template <class T>
void products(char** args, const intptr_t* n, const intptr_t* steps, void*) {
  for (intptr_t i = 0; i < *n; ++i) {
    const auto a = load<std::complex<T>>(args[0] + i * steps[0]), b = load<std::complex<T>>(args[1] + i * steps[1]);
    const std::complex<T> y = product(a, b);
    std::memcpy(args[2] + i * steps[2], &y, sizeof y);
  }
}

template <class T>
void absolutes(char** args, const intptr_t* n, const intptr_t* steps, void*) {
  for (intptr_t i = 0; i < *n; ++i) {
    const auto x = load<std::complex<T>>(args[0] + i * steps[0]);
    const T y = std::hypot(x.real(), x.imag());
    std::memcpy(args[1] + i * steps[1], &y, sizeof y);
  }
}

// Null: the loop over arrays has the same bits.
LoopFunction loop_of_scalars(Operator which, const DType* types) {
  const DType t = types[0];
  switch (which) {
    case Operator::power:
      if (types[1] != t) return nullptr;
      return t == DType::f32 ? powers<float> : t == DType::f64 ? powers<double> : nullptr;
    case Operator::multiply: return t == DType::c64 ? products<float> : t == DType::c128 ? products<double> : nullptr;
    case Operator::absolute: return t == DType::c64 ? absolutes<float> : t == DType::c128 ? absolutes<double> : nullptr;
    default: return nullptr;
  }
}

}  // namespace

void add_scalar_loops(UfuncObject* u, Operator which) {
  for (Signature& s : *u->signatures) {
    const LoopFunction function = loop_of_scalars(which, s.types);
    if (!function) continue;
    auto* own = new Signature(s);  // never freed, as pending ops may use it
    own->loop = Loop{.function = function, .eighths = kEighths};
    s.of_scalars = own;
  }
}

}  // namespace forerun
