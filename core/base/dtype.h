// The element types of arrays, and their properties.
#pragma once
#include <cstddef>
#include <cstdint>

namespace forerun {

enum class DType : uint8_t { b1, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128 };

inline constexpr int kDTypes = 15;
inline constexpr uint8_t kItemSize[kDTypes] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
inline constexpr const char* kDTypeName[kDTypes] = {"bool",     "int8",    "int16",   "int32",     "int64",
                                                    "uint8",    "uint16",  "uint32",  "uint64",    "float16",
                                                    "bfloat16", "float32", "float64", "complex64", "complex128"};

constexpr size_t item_size(DType t) { return kItemSize[static_cast<int>(t)]; }
constexpr const char* name(DType t) { return kDTypeName[static_cast<int>(t)]; }
constexpr bool is_integer(DType t) { return t >= DType::i8 && t <= DType::u64; }
constexpr bool is_signed(DType t) { return t >= DType::i8 && t <= DType::i64; }
constexpr bool is_real_float(DType t) { return t >= DType::f16 && t <= DType::f64; }
constexpr bool is_complex(DType t) { return t >= DType::c64; }
constexpr bool is_inexact(DType t) { return t >= DType::f16; }

}  // namespace forerun
