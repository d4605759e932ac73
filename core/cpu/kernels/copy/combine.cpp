// Functions that combine an element at a position with a value.
#include "cpu/kernels/copy/combine.h"

#include <cstdint>
#include <cstring>

#include "base/bfloat16.h"
#include "base/half.h"
#include "cpu/loops/simd_arithmetic.h"

namespace forerun {

namespace {

template <class T>
void add_loop_of(char** args, const intptr_t* n, const intptr_t* steps, void*) {
  for (intptr_t i = 0; i < *n; ++i) {
    T a, b;
    std::memcpy(&a, args[0] + i * steps[0], sizeof a);
    std::memcpy(&b, args[1] + i * steps[1], sizeof b);
    a = static_cast<T>(a + b);
    std::memcpy(args[2] + i * steps[2], &a, sizeof a);
  }
}

// Independent of the byte values: all but 0 are true.
void add_bool(char** args, const intptr_t* n, const intptr_t* steps, void*) {
  for (intptr_t i = 0; i < *n; ++i) args[2][i * steps[2]] = (args[0][i * steps[0]] != 0) | (args[1][i * steps[1]] != 0);
}

template <class T>
void add_pair_of(char** args, const intptr_t* n, const intptr_t* steps, void*) {
  for (intptr_t i = 0; i < *n; ++i) {
    T a[2], b[2];
    std::memcpy(a, args[0] + i * steps[0], sizeof a);
    std::memcpy(b, args[1] + i * steps[1], sizeof b);
    a[0] += b[0], a[1] += b[1];
    std::memcpy(args[2] + i * steps[2], a, sizeof a);
  }
}

template <class T>
Loop add_in_vectors(DType t) {
  static const Loop loop = arithmetic_loop(Formula::add, t, {add_loop_of<T>});
  return loop;
}

Loop add_loop(DType t) {
  switch (t) {
    case DType::b1: return {add_bool};
    case DType::i8:
    case DType::u8: return {add_loop_of<uint8_t>};
    case DType::i16:
    case DType::u16: return {add_loop_of<uint16_t>};
    case DType::i32:
    case DType::u32: return {add_loop_of<uint32_t>};
    case DType::i64:
    case DType::u64: return {add_loop_of<uint64_t>};
    case DType::f16: return {add_loop_of<Half>};
    case DType::bf16: return {add_loop_of<Bfloat16>};
    case DType::f32: return add_in_vectors<float>(t);
    case DType::f64: return add_in_vectors<double>(t);
    case DType::c64: return {add_pair_of<float>};
    case DType::c128: return {add_pair_of<double>};
  }
  return {};
}

// a = f(a, b), one element after the other.
template <class T, auto f>
void each_one(char* at, const int64_t* offsets, const char* from, int64_t step, int64_t n) {
  for (int64_t p = 0; p < n; ++p) {
    T a, b;
    std::memcpy(&a, at + offsets[p], sizeof a);
    std::memcpy(&b, from + p * step, sizeof b);
    a = f(a, b);
    std::memcpy(at + offsets[p], &a, sizeof a);
  }
}

}  // namespace

Combine adding(DType t) { return {"add_at", add_loop(t), {t, t, t}, 2, each_of(Formula::add, t), "add"}; }

EachFunction each_of(Formula formula, DType t) {
  auto of = [&](auto type) -> EachFunction {
    using T = decltype(type);
    if (formula == Formula::add) return each_one<T, [](T a, T b) { return static_cast<T>(a + b); }>;
    if (formula == Formula::subtract) return each_one<T, [](T a, T b) { return static_cast<T>(a - b); }>;
    if (formula == Formula::multiply) return each_one<T, [](T a, T b) { return static_cast<T>(a * b); }>;
    if (formula == Formula::maximum) return each_one<T, [](T a, T b) { return a >= b || a != a ? a : b; }>;
    if (formula == Formula::minimum) return each_one<T, [](T a, T b) { return a <= b || a != a ? a : b; }>;
    return nullptr;
  };
  // Of signed integers by their bits, as they may overflow.
  const bool wraps = formula == Formula::add || formula == Formula::subtract || formula == Formula::multiply;
  switch (t) {
    case DType::i32: return wraps ? of(uint32_t{}) : of(int32_t{});
    case DType::i64: return wraps ? of(uint64_t{}) : of(int64_t{});
    case DType::u8: return of(uint8_t{});
    case DType::u32: return of(uint32_t{});
    case DType::u64: return of(uint64_t{});
    case DType::f32: return of(float{});
    case DType::f64: return of(double{});
    default: return nullptr;
  }
}

}  // namespace forerun
