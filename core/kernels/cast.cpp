// Conversions between all element types, and the loops of where().
#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/bfloat16.h"
#include "base/clones.h"
#include "kernels/loop.h"

namespace forerun {

namespace {

using Half = _Float16;

constexpr intptr_t kLongCopy = 512;  // bytes

template <class T>
constexpr bool is_complex_v = false;
template <class T>
constexpr bool is_complex_v<std::complex<T>> = true;

template <class T>
T load(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// C leaves open what becomes of a value that the integer cannot hold, and compilers choose by how they vectorise. Here it is what
// scalar code gives on x86: the integer part, of which the lowest bits are kept; and the least integer for NaN and for what is beyond
// the integer that it is converted to first (32 bits for small dtypes and int32, otherwise 64).
template <class Wide, class From>
Wide whole(From v) {
  constexpr From least = static_cast<From>(std::numeric_limits<Wide>::min());
  From inside = static_cast<int>(v >= least) & static_cast<int>(v < -least) ? v : least;  // chosen first, so that it vectorises
  return static_cast<Wide>(inside);
}

template <class To, class From>
To integer(From v) {
  if constexpr (std::is_same_v<To, uint64_t>) {
    constexpr From half = static_cast<From>(uint64_t{1} << 63);
    bool upper = v >= half;
    return static_cast<uint64_t>(whole<int64_t>(upper ? v - half : v)) ^ static_cast<uint64_t>(upper) << 63;
  } else {
    using Wide = std::conditional_t<sizeof(To) < 4 || std::is_same_v<To, int32_t>, int32_t, int64_t>;
    return static_cast<To>(whole<Wide>(v));
  }
}

template <class To, class From>
To convert(From v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;  // all its bits
  } else if constexpr (std::is_same_v<From, Bfloat16>) {
    return convert<To>(static_cast<float>(v));
  } else if constexpr (std::is_same_v<To, Bfloat16>) {
    return Bfloat16(convert<float>(v));
  } else if constexpr (is_complex_v<From> && !is_complex_v<To>) {
    if constexpr (std::is_same_v<To, bool>)
      return v.real() != 0 || v.imag() != 0;
    else
      return convert<To>(v.real());
  } else if constexpr (is_complex_v<To>) {
    using Part = typename To::value_type;
    if constexpr (is_complex_v<From>)
      return To(static_cast<Part>(v.real()), static_cast<Part>(v.imag()));
    else
      return To(static_cast<Part>(v), Part(0));
  } else if constexpr (std::is_same_v<To, bool>) {
    return v != From(0);
  } else if constexpr (std::is_same_v<From, Half> && std::is_integral_v<To>) {
    return integer<To>(static_cast<float>(v));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return integer<To>(v);
  } else {
    return static_cast<To>(v);
  }
}

template <class From, class To>
void cast(char** args, const intptr_t* n, const intptr_t* steps, void*) {
  const char* in = args[0];
  char* out = args[1];
  if (steps[0] == sizeof(From) && steps[1] == sizeof(To)) {  // vectorised by the compiler
    for (intptr_t i = 0; i < *n; ++i) {
      To v = convert<To>(load<From>(in + i * static_cast<intptr_t>(sizeof(From))));
      std::memcpy(out + i * static_cast<intptr_t>(sizeof(To)), &v, sizeof v);
    }
    return;
  }
  for (intptr_t i = 0; i < *n; ++i, in += steps[0], out += steps[1]) {
    To v = convert<To>(load<From>(in));
    std::memcpy(out, &v, sizeof v);
  }
}

// Rows of a turned matrix, which lie across the source: some columns after the other, so that its memory is read line by line.
template <class T>
void copy_turned(const char* in, char* out, intptr_t rows, intptr_t n, intptr_t in_step, intptr_t out_pitch) {
  constexpr intptr_t kSize = sizeof(T), kSome = 8;
  for (intptr_t i = 0; i < n; i += kSome)
    for (intptr_t row = 0; row < rows; ++row)
      for (intptr_t k = i, end = std::min(n, i + kSome); k < end; ++k) std::memcpy(out + row * out_pitch + k * kSize, in + row * kSize + k * in_step, kSize);
}

// Elements that stay as they are. Rows are most often short: calls of memcpy would take longer than the copies.
template <class T>
void copy_rows(char** args, intptr_t rows, intptr_t n, const intptr_t* steps, const intptr_t* pitches, void*) {
  constexpr intptr_t kSize = sizeof(T), kSome = 64;
  bool together = steps[0] == kSize && steps[1] == kSize;
  if (!together && pitches[0] == kSize && steps[1] == kSize) return copy_turned<T>(args[0], args[1], rows, n, steps[0], pitches[1]);
  for (intptr_t row = 0; row < rows; ++row) {
    const char* in = args[0] + row * pitches[0];
    char* out = args[1] + row * pitches[1];
    intptr_t left = n;
    if (together && n * kSize >= kLongCopy) std::memcpy(out, in, static_cast<size_t>(n * kSize)), left = 0;
    for (; together && left * kSize >= kSome; left -= kSome / kSize, in += kSome, out += kSome) std::memcpy(out, in, kSome);
    for (; left > 0; --left, in += steps[0], out += steps[1]) std::memcpy(out, in, kSize);
  }
}

template <class T>
void copy_row(char** args, const intptr_t* n, const intptr_t* steps, void* data) {
  copy_rows<T>(args, 1, *n, steps, steps, data);
}

// What masks are multiplied with.
template <class To>
[[gnu::always_inline]] inline void widen(char** args, intptr_t n, const intptr_t* steps) {
  auto* in = reinterpret_cast<const uint8_t*>(args[0]);
  if (steps[0] == 1 && steps[1] == sizeof(To)) {
    auto* out = reinterpret_cast<To*>(args[1]);
#pragma GCC ivdep
    for (intptr_t i = 0; i < n; ++i) out[i] = in[i] != 0;
    return;
  }
  for (intptr_t i = 0; i < n; ++i) {
    To v = in[i * steps[0]] != 0;
    std::memcpy(args[1] + i * steps[1], &v, sizeof v);
  }
}

FORERUN_CLONES void bool_to_f32(char** args, const intptr_t* n, const intptr_t* steps, void*) { widen<float>(args, *n, steps); }
FORERUN_CLONES void bool_to_f64(char** args, const intptr_t* n, const intptr_t* steps, void*) { widen<double>(args, *n, steps); }

// Elements of one size that stay as they are.
Loop copy_loop(size_t size) {
  Loop loop;
  auto of = [&](auto element) {
    using T = decltype(element);
    loop.function = copy_row<T>, loop.rows = copy_rows<T>;
  };
  switch (size) {
    case 1: of(uint8_t{}); break;
    case 2: of(uint16_t{}); break;
    case 4: of(uint32_t{}); break;
    case 8: of(uint64_t{}); break;
    default: of(std::complex<double>{});
  }
  return loop;
}

template <class From>
Loop cast_from(DType to) {
  switch (to) {
    case DType::b1: return {cast<From, bool>};
    case DType::i8: return {cast<From, int8_t>};
    case DType::i16: return {cast<From, int16_t>};
    case DType::i32: return {cast<From, int32_t>};
    case DType::i64: return {cast<From, int64_t>};
    case DType::u8: return {cast<From, uint8_t>};
    case DType::u16: return {cast<From, uint16_t>};
    case DType::u32: return {cast<From, uint32_t>};
    case DType::u64: return {cast<From, uint64_t>};
    case DType::f16: return {cast<From, Half>};
    case DType::bf16: return {cast<From, Bfloat16>};
    case DType::f32: return {cast<From, float>};
    case DType::f64: return {cast<From, double>};
    case DType::c64: return {cast<From, std::complex<float>>};
    case DType::c128: return {cast<From, std::complex<double>>};
  }
  return {};
}

template <class T>
void select(char** args, const intptr_t* n, const intptr_t* steps, void*) {
  for (intptr_t i = 0; i < *n; ++i)
    std::memcpy(args[3] + i * steps[3], *(args[0] + i * steps[0]) ? args[1] + i * steps[1] : args[2] + i * steps[2], sizeof(T));
}

}  // namespace

Loop cast_loop(DType from, DType to) {
  if (from == to) return copy_loop(item_size(from));
  if (from == DType::b1 && to == DType::f32) return {bool_to_f32};
  if (from == DType::b1 && to == DType::f64) return {bool_to_f64};
  switch (from) {
    case DType::b1: return cast_from<bool>(to);
    case DType::i8: return cast_from<int8_t>(to);
    case DType::i16: return cast_from<int16_t>(to);
    case DType::i32: return cast_from<int32_t>(to);
    case DType::i64: return cast_from<int64_t>(to);
    case DType::u8: return cast_from<uint8_t>(to);
    case DType::u16: return cast_from<uint16_t>(to);
    case DType::u32: return cast_from<uint32_t>(to);
    case DType::u64: return cast_from<uint64_t>(to);
    case DType::f16: return cast_from<Half>(to);
    case DType::bf16: return cast_from<Bfloat16>(to);
    case DType::f32: return cast_from<float>(to);
    case DType::f64: return cast_from<double>(to);
    case DType::c64: return cast_from<std::complex<float>>(to);
    case DType::c128: return cast_from<std::complex<double>>(to);
  }
  return {};
}

Loop select_loop(DType t) {
  switch (item_size(t)) {
    case 1: return {select<char>};
    case 2: return {select<char[2]>};
    case 4: return {select<float>};
    case 8: return {select<double>};
    default: return {select<char[16]>};
  }
}

}  // namespace forerun
