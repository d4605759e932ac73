// The upper half of a float32: eight bits of exponent, eight of precision.
#pragma once
#include <bit>
#include <cstdint>

namespace forerun {

struct Bfloat16 {
  uint16_t bits;
  Bfloat16() = default;
  // To the nearest, ties to even; every NaN becomes the quiet one of its sign.
  explicit Bfloat16(float v) {
    uint32_t x = std::bit_cast<uint32_t>(v), rounded = (x + 0x7fff + (x >> 16 & 1)) >> 16;
    bits = static_cast<uint16_t>((x & 0x7fffffff) > 0x7f800000 ? (x >> 16 & 0x8000) | 0x7fc0 : rounded);
  }
  operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
};

}  // namespace forerun
