// Conversions between all element types, and the loops of where().
#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/bfloat16.h"
#include "base/half.h"
#include "base/simd/copy_bytes.h"
#include "base/simd/simd_target.h"
#include "cpu/loops/cast.h"
#include "cpu/loops/formulas.h"
#include "cpu/loops/item.h"
#include "cpu/loops/loop.h"

namespace forerun {

namespace {

constexpr intptr_t kLongCopy = 512;  // bytes

template <class T>
constexpr bool is_complex_v = false;
template <class T>
constexpr bool is_complex_v<std::complex<T>> = true;

// C leaves the conversion of values that the integer cannot hold undefined, and results depend on how compilers
// vectorise. Here the result is that of scalar code on x86: the integer part, of which the lowest bits are kept; and
// the least integer for NaN and for values that do not fit the intermediate integer (32 bits for small dtypes and
// int32, otherwise 64).
template <class Wide, class From>
FORERUN_EACH Wide whole(From v) {
  constexpr From least = static_cast<From>(std::numeric_limits<Wide>::min());
  From inside =
      static_cast<int>(v >= least) & static_cast<int>(v < -least) ? v : least;  // chosen first, so that it vectorises
  return static_cast<Wide>(inside);
}

template <class To, class From>
FORERUN_EACH To integer(From v) {
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
FORERUN_EACH To convert(From v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;  // keeps all its bits
  } else if constexpr (std::is_same_v<From, Bfloat16>) {
    return convert<To>(static_cast<float>(v));
  } else if constexpr (std::is_same_v<To, Bfloat16>) {
    return Bfloat16(convert<float>(v));
  } else if constexpr (is_complex_v<From> && !is_complex_v<To>) {
    static_assert(std::is_same_v<To, bool>);
    return v.real() != 0 || v.imag() != 0;
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

// Numbers that the compiler computes with in vectors.
template <class T>
constexpr bool in_vectors = !is_complex_v<T> && !std::is_same_v<T, Bfloat16>;

// Copies elements of a size that lie apart to consecutive ones.
void gather(char* out, const char* in, intptr_t n, intptr_t step, size_t size);

template <class From, class To>
FORERUN_EACH void cast_dense(char* out, const char* in, intptr_t n) {
  constexpr auto kFrom = static_cast<intptr_t>(sizeof(From)), kTo = static_cast<intptr_t>(sizeof(To));
  if constexpr (is_complex_v<To> && !is_complex_v<From>) {
    using Part = typename To::value_type;  // part by part: compilers do not vectorise complex numbers well
    auto* parts = reinterpret_cast<Part*>(out);
    for (intptr_t i = 0; i < n; ++i) {
      parts[2 * i] = convert<Part>(load<From>(in + i * kFrom));
      parts[2 * i + 1] = Part(0);
    }
  } else {
#pragma GCC ivdep
    for (intptr_t i = 0; i < n; ++i) {
      To v = convert<To>(load<From>(in + i * kFrom));
      std::memcpy(out + i * kTo, &v, sizeof v);
    }
  }
}

template <class From, class To>
FORERUN_EACH void cast_elements(char** args, const intptr_t* n, const intptr_t* steps) {
  const char* in = args[0];
  char* out = args[1];
  intptr_t left = *n;
  constexpr auto kFrom = static_cast<intptr_t>(sizeof(From)), kTo = static_cast<intptr_t>(sizeof(To));
  constexpr intptr_t kSome = 256;  // elements that are gathered before vectors convert them
  if (steps[0] == kFrom && steps[1] == kTo) return cast_dense<From, To>(out, in, left);
  if constexpr (in_vectors<From> && in_vectors<To>) {
    if (steps[1] == kTo && steps[0] != 0 && left >= 16) {
      From some[kSome];
      for (intptr_t m; left > 0; left -= m, in += m * steps[0], out += m * kTo) {
        m = std::min(left, kSome);
        gather(reinterpret_cast<char*>(some), in, m, steps[0], sizeof(From));
        cast_dense<From, To>(out, reinterpret_cast<const char*>(some), m);
      }
      return;
    }
  }
  for (; left > 0; --left, in += steps[0], out += steps[1]) {
    To v = convert<To>(load<From>(in));
    std::memcpy(out, &v, sizeof v);
  }
}

// A version for each kind of processor.
template <class From, class To>
void cast(char** args, const intptr_t* n, const intptr_t* steps, void*) {
  cast_elements<From, To>(args, n, steps);
}
template <class From, class To>
FORERUN_AVX2 void cast_avx2(char** args, const intptr_t* n, const intptr_t* steps, void*) {
  cast_elements<From, To>(args, n, steps);
}
template <class From, class To>
FORERUN_AVX512 void cast_avx512(char** args, const intptr_t* n, const intptr_t* steps, void*) {
  cast_elements<From, To>(args, n, steps);
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kVersions = false;  // they would only take time to compile
#else
constexpr bool kVersions = true;
#endif

template <class From, class To>
Loop best_cast() {
  if constexpr (is_complex_v<From> && !is_complex_v<To> && !std::is_same_v<To, bool>)
    return best_cast<typename From::value_type, To>();  // of the real parts
  else if constexpr (kVersions && in_vectors<From> && in_vectors<To>)
    return {has_avx512() ? cast_avx512<From, To> : has_avx2() ? cast_avx2<From, To> : cast<From, To>};
  else
    return {cast<From, To>};
}

// Rows of a transposed matrix, which are columns of the source: some columns after the other, so that its memory is
// read line by line.
template <class T>
void copy_transposed(const char* in, char* out, intptr_t rows, intptr_t n, intptr_t in_step, intptr_t out_pitch) {
  constexpr intptr_t kSize = sizeof(T), kSome = 8;
  for (intptr_t i = 0; i < n; i += kSome)
    for (intptr_t row = 0; row < rows; ++row)
      for (intptr_t k = i, end = std::min(n, i + kSome); k < end; ++k)
        std::memcpy(out + row * out_pitch + k * kSize, in + row * kSize + k * in_step, kSize);
}

// Consecutive bytes, at least as many as a vector has; the last vector may overlap the one before.
template <intptr_t size>
[[gnu::always_inline]] inline void copy_vectors(const char* in, char* out, intptr_t bytes) {
  typedef char Vector __attribute__((vector_size(size), aligned(1), may_alias));
  auto move = [&](intptr_t at) __attribute__((always_inline)) {
    *reinterpret_cast<Vector*>(out + at) = *reinterpret_cast<const Vector*>(in + at);
  };
  intptr_t at = 0;
  for (; at + size <= bytes; at += size) move(at);
  if (at < bytes) move(bytes - size);
}

// out[i] = in[-i]
template <class T>
FORERUN_EACH void copy_reversed(const char* in, char* out, intptr_t n) {
  constexpr auto kSize = static_cast<intptr_t>(sizeof(T));
#pragma GCC ivdep
  for (intptr_t i = 0; i < n; ++i) {
    const T value = load<T>(in - i * kSize);
    std::memcpy(out + i * kSize, &value, sizeof value);
  }
}

// out[i] = in[k * i]
template <class T, int k>
FORERUN_EACH void copy_every(const char* in, char* out, intptr_t n) {
  constexpr auto kSize = static_cast<intptr_t>(sizeof(T));
#pragma GCC ivdep
  for (intptr_t i = 0; i < n; ++i) {
    const T value = load<T>(in + k * i * kSize);
    std::memcpy(out + i * kSize, &value, sizeof value);
  }
}

// Elements that lie apart, four at a time: vectors that gather or scatter them take longer.
template <class T>
FORERUN_EACH void copy_apart(const char* in, char* out, intptr_t n, intptr_t from, intptr_t to) {
  constexpr auto kSize = static_cast<intptr_t>(sizeof(T));
  intptr_t i = 0;
  for (; i + 4 <= n; i += 4, in += 4 * from, out += 4 * to) {
    const T some[4] = {load<T>(in), load<T>(in + from), load<T>(in + 2 * from), load<T>(in + 3 * from)};
    if (to == kSize)
      std::memcpy(out, some, sizeof some);
    else
      for (int k = 0; k < 4; ++k) std::memcpy(out + k * to, some + k, kSize);
  }
  for (; i < n; ++i, in += from, out += to) std::memcpy(out, in, kSize);
}

// Copies elements unchanged. Rows are most often short: calls of memcpy would take longer than the copies.
template <class T>
FORERUN_EACH void copy_each(char** args, intptr_t rows, intptr_t n, const intptr_t* steps, const intptr_t* pitches) {
  constexpr intptr_t kSize = sizeof(T);
  const intptr_t from = steps[0], to = steps[1], bytes = n * kSize;
  const bool together = from == kSize && to == kSize;
  if (!together && pitches[0] == kSize && to == kSize)
    return copy_transposed<T>(args[0], args[1], rows, n, from, pitches[1]);
  const char* in = args[0];
  char* out = args[1];
  for (intptr_t row = 0, apart = pitches[0], out_apart = pitches[1]; row < rows; ++row, in += apart, out += out_apart) {
    if (!together && from == 0 && to == kSize)
      repeat<T>(out, in, n);
    else if (from == -kSize && to == kSize)
      copy_reversed<T>(in, out, n);
    else if (from == 2 * kSize && to == kSize)  // parts of complex numbers, and channels of images
      copy_every<T, 2>(in, out, n);
    else if (from == 3 * kSize && to == kSize)
      copy_every<T, 3>(in, out, n);
    else if (from == 4 * kSize && to == kSize)
      copy_every<T, 4>(in, out, n);
    else if (!together && kSize <= 8)
      copy_apart<T>(in, out, n, from, to);
    else if (!together || bytes < 16)
      for (intptr_t i = 0; i < n; ++i) std::memcpy(out + i * to, in + i * from, kSize);
    else if (bytes < 32)
      copy_vectors<16>(in, out, bytes);
    else if (bytes < 64)
      copy_vectors<32>(in, out, bytes);
    else if (bytes < kLongCopy)
      copy_vectors<64>(in, out, bytes);
    else
      copy_bytes(out, in, bytes);
  }
}

// By the size of an element. Functions alone have a version for each CPU: Clang does not clone templates.
#define FORERUN_COPY(size, T)                                                                         \
  FORERUN_CLONES void copy_rows_##size(char** args, intptr_t rows, intptr_t n, const intptr_t* steps, \
                                       const intptr_t* pitches, void*) {                              \
    copy_each<T>(args, rows, n, steps, pitches);                                                      \
  }                                                                                                   \
  void copy_row_##size(char** args, const intptr_t* n, const intptr_t* steps, void* data) {           \
    copy_rows_##size(args, 1, *n, steps, steps, data);                                                \
  }
FORERUN_COPY(1, uint8_t)
FORERUN_COPY(2, uint16_t)
FORERUN_COPY(4, uint32_t)
FORERUN_COPY(8, uint64_t)
FORERUN_COPY(16, std::complex<double>)
#undef FORERUN_COPY

// Copies elements of one size unchanged.
Loop copy_loop(size_t size) {
  Loop loop;
  switch (size) {
    case 1: loop.function = copy_row_1, loop.rows = copy_rows_1; break;
    case 2: loop.function = copy_row_2, loop.rows = copy_rows_2; break;
    case 4: loop.function = copy_row_4, loop.rows = copy_rows_4; break;
    case 8: loop.function = copy_row_8, loop.rows = copy_rows_8; break;
    default: loop.function = copy_row_16, loop.rows = copy_rows_16;
  }
  return loop;
}

void gather(char* out, const char* in, intptr_t n, intptr_t step, size_t size) {
  char* args[] = {const_cast<char*>(in), out};
  const intptr_t steps[] = {step, static_cast<intptr_t>(size)};
  copy_loop(size).function(args, &n, steps, nullptr);
}

template <class From>
Loop cast_from(DType to) {
  switch (to) {
    case DType::b1: return best_cast<From, bool>();
    case DType::i8: return best_cast<From, int8_t>();
    case DType::i16: return best_cast<From, int16_t>();
    case DType::i32: return best_cast<From, int32_t>();
    case DType::i64: return best_cast<From, int64_t>();
    case DType::u8: return best_cast<From, uint8_t>();
    case DType::u16: return best_cast<From, uint16_t>();
    case DType::u32: return best_cast<From, uint32_t>();
    case DType::u64: return best_cast<From, uint64_t>();
    case DType::f16: return best_cast<From, Half>();
    case DType::bf16: return best_cast<From, Bfloat16>();
    case DType::f32: return best_cast<From, float>();
    case DType::f64: return best_cast<From, double>();
    case DType::c64: return best_cast<From, std::complex<float>>();
    case DType::c128: return best_cast<From, std::complex<double>>();
  }
  return {};
}

template <class T, bool one_a, bool one_b>
[[gnu::always_inline]] inline void select_dense(const uint8_t* mask, const T* a, const T* b, T* out, intptr_t n) {
  const T x = *a, y = *b;  // before anything is written
#pragma GCC ivdep
  for (intptr_t i = 0; i < n; ++i) {
    const T from_a = one_a ? x : a[i], from_b = one_b ? y : b[i];
    out[i] = mask[i] ? from_a : from_b;
  }
}

template <class T>
[[gnu::always_inline]] inline void select_of(char** args, intptr_t n, const intptr_t* steps) {
  constexpr intptr_t kSize = sizeof(T);
  auto known = [&](int k) { return steps[k] == kSize || steps[k] == 0; };
  if (n > 0 && steps[0] == 1 && known(1) && known(2) && steps[3] == kSize) {
    auto* mask = reinterpret_cast<const uint8_t*>(args[0]);
    auto *a = reinterpret_cast<const T*>(args[1]), *b = reinterpret_cast<const T*>(args[2]);
    auto* out = reinterpret_cast<T*>(args[3]);
    if (steps[1] && steps[2]) return select_dense<T, false, false>(mask, a, b, out, n);
    if (steps[1]) return select_dense<T, false, true>(mask, a, b, out, n);
    if (steps[2]) return select_dense<T, true, false>(mask, a, b, out, n);
    return select_dense<T, true, true>(mask, a, b, out, n);
  }
  for (intptr_t i = 0; i < n; ++i)
    std::memcpy(args[3] + i * steps[3], *(args[0] + i * steps[0]) ? args[1] + i * steps[1] : args[2] + i * steps[2],
                sizeof(T));
}

FORERUN_CLONES void select_1(char** args, const intptr_t* n, const intptr_t* steps, void*) {
  select_of<uint8_t>(args, *n, steps);
}
FORERUN_CLONES void select_2(char** args, const intptr_t* n, const intptr_t* steps, void*) {
  select_of<uint16_t>(args, *n, steps);
}
FORERUN_CLONES void select_4(char** args, const intptr_t* n, const intptr_t* steps, void*) {
  select_of<uint32_t>(args, *n, steps);
}
FORERUN_CLONES void select_8(char** args, const intptr_t* n, const intptr_t* steps, void*) {
  select_of<uint64_t>(args, *n, steps);
}
void select_16(char** args, const intptr_t* n, const intptr_t* steps, void*) {
  select_of<std::array<uint64_t, 2>>(args, *n, steps);
}

Loop made_cast_loop(DType from, DType to) {
  if (from == to) return copy_loop(item_size(from));
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

// Whether a conversion gives the same bits however it is computed.
bool is_exact(DType from, DType to) {
  if (!is_compiled(from) || !is_compiled(to)) return false;
  return !(is_inexact(from) && is_integer(to));  // C leaves the result for large values undefined
}

struct CastLoops {
  Loop loops[kDTypes][kDTypes];
  CastLoops() {
    for (int from = 0; from < kDTypes; ++from)
      for (int to = 0; to < kDTypes; ++to) {
        const auto a = static_cast<DType>(from), b = static_cast<DType>(to);
        loops[from][to] = made_cast_loop(a, b);
        if (is_exact(a, b)) loops[from][to].formula = Formula::cast, loops[from][to].eighths = 1;
      }
  }
};

}  // namespace

// Kernels call this for each stretch of a row.
Loop cast_loop(DType from, DType to) {
  static const CastLoops all;
  return all.loops[static_cast<int>(from)][static_cast<int>(to)];
}

Loop select_loop(DType t) {
  constexpr LoopFunction kOfSize[] = {select_1, select_2, select_4, select_8, select_16};
  Loop loop{kOfSize[std::countr_zero(item_size(t))]};
  if (is_compiled(t)) loop.formula = Formula::select;
  loop.eighths = 1;
  return loop;
}

}  // namespace forerun
