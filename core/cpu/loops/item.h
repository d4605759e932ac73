// Elements by their size, and by their type.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/dtype.h"

namespace forerun {

// Calls f with a value of the size of an element.
template <class F>
void with_item(size_t size, F f) {
  switch (size) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    case 8: return f(uint64_t{});
    default: return f(std::array<uint64_t, 2>{});
  }
}

// Calls f with a number of bytes: a constant where it is small and frequent, so that copies need no call.
template <class F>
void with_bytes(size_t bytes, F f) {
  switch (bytes) {
    case 1: return f(std::integral_constant<size_t, 1>{});
    case 2: return f(std::integral_constant<size_t, 2>{});
    case 4: return f(std::integral_constant<size_t, 4>{});
    case 8: return f(std::integral_constant<size_t, 8>{});
    case 16: return f(std::integral_constant<size_t, 16>{});
    case 24: return f(std::integral_constant<size_t, 24>{});
    case 32: return f(std::integral_constant<size_t, 32>{});
    default: return f(bytes);
  }
}

// Calls f with a number of dtype t, if that is an integer or a float of the CPU's; returns whether it is.
template <class F>
bool with_real(DType t, F f) {
  switch (t) {
    case DType::i8: return f(int8_t{}), true;
    case DType::u8: return f(uint8_t{}), true;
    case DType::i16: return f(int16_t{}), true;
    case DType::u16: return f(uint16_t{}), true;
    case DType::i32: return f(int32_t{}), true;
    case DType::u32: return f(uint32_t{}), true;
    case DType::i64: return f(int64_t{}), true;
    case DType::u64: return f(uint64_t{}), true;
    case DType::f32: return f(float{}), true;
    case DType::f64: return f(double{}), true;
    default: return false;
  }
}

// The element at an address. Any nonzero byte is true: bytes that are viewed as bools may be other numbers than 0
// and 1.
template <class T>
T load(const char* from) {
  if constexpr (std::is_same_v<T, bool>) {
    return *from != 0;
  } else {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
}

// Writes the value to n elements.
template <class T>
inline void repeat(char* to, const void* value, int64_t n) {
  constexpr int64_t kCount = 64 / sizeof(T);
  T values[kCount];
  for (T& one : values) std::memcpy(&one, value, sizeof(T));
  for (; n >= kCount; n -= kCount, to += sizeof values) std::memcpy(to, values, sizeof values);
  std::memcpy(to, values, static_cast<size_t>(n) * sizeof(T));
}

// The same for elements of this size.
void repeat_item(char* to, const unsigned char* value, size_t size, int64_t n);

}  // namespace forerun
