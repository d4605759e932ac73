#include "cpu/loops/exponential.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "base/simd/simd_target.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace forerun {

#if defined(__x86_64__)

namespace {

// e^x = 2^k e^r, where k is the integer next to x / log 2, and r = x - k log 2, in two parts. e^r is a quotient of
// polynomials in r. NumPy's loop rounds the same results in the same order, and uses the instruction for division, for
// which all other instructions wait. Here the quotient is the product with the reciprocal, corrected by its remainder:
// if the reciprocal is the nearest float, so is the quotient (P. Markstein, 1990). Numerator and denominator lie
// between 0.7 and 1.3, far from overflow. Numbers that need no special result are the most frequent.
constexpr float kLog2e = 1.44269504088896340736F, kRounds = 0x1.8p23F;  // adding it rounds to an integer
constexpr float kLog2High = 6.93145752e-1F, kLog2Low = 1.42860677e-6F;
constexpr float kNumerator[] = {5.082762527590693718096e-04F, 6.757896990527504603057e-03F,
                                5.114512081637298353406e-02F, 2.473615434895520810817e-01F,
                                7.257664613233124478488e-01F, 9.999999999980870924916e-01F};
constexpr float kDenominator[] = {2.159509375685829852307e-02F, -2.742335390411667452936e-01F, 1.0F};
constexpr float kMost = 88.72283935546875F, kLeast = -103.97208404541015625F;  // beyond: infinite, and 0
constexpr intptr_t kLanes = 16;

// a / b, rounded once.
FORERUN_AVX512 inline __m512 quotient(__m512 a, __m512 b) {
  __m512 reciprocal = _mm512_rcp14_ps(b);  // to 14 bits, which processors may compute in different ways
  for (int i = 0; i < 2; ++i)              // rounded once
    reciprocal = _mm512_fmadd_ps(reciprocal, _mm512_fnmadd_ps(b, reciprocal, _mm512_set1_ps(1)), reciprocal);
  const __m512 near = _mm512_mul_ps(a, reciprocal);
  return _mm512_fmadd_ps(_mm512_fnmadd_ps(b, near, a), reciprocal, near);
}

// Of finite numbers between kLeast and kMost.
FORERUN_AVX512 inline __m512 exponential(__m512 x) {
  const __m512 rounds = _mm512_set1_ps(kRounds);
  const __m512 k = _mm512_sub_ps(_mm512_add_ps(_mm512_mul_ps(x, _mm512_set1_ps(kLog2e)), rounds), rounds);
  x = _mm512_fnmadd_ps(k, _mm512_set1_ps(kLog2High), x);
  x = _mm512_fnmadd_ps(k, _mm512_set1_ps(kLog2Low), x);
  __m512 numerator = _mm512_set1_ps(kNumerator[0]), denominator = _mm512_set1_ps(kDenominator[0]);
  for (int i = 1; i < 6; ++i) numerator = _mm512_fmadd_ps(numerator, x, _mm512_set1_ps(kNumerator[i]));
  for (int i = 1; i < 3; ++i) denominator = _mm512_fmadd_ps(denominator, x, _mm512_set1_ps(kDenominator[i]));
  return _mm512_scalef_ps(quotient(numerator, denominator), k);
}

// Of any numbers: the others give infinity, 0, and NaN.
FORERUN_AVX512 inline __m512 any_exponential(__m512 x) {
  const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  const __mmask16 above = _mm512_cmp_ps_mask(x, _mm512_set1_ps(kMost), _CMP_GE_OQ);
  const __mmask16 below = _mm512_cmp_ps_mask(x, _mm512_set1_ps(kLeast), _CMP_LE_OQ);
  const auto special = static_cast<__mmask16>(nan | above | below);
  __m512 y = exponential(_mm512_maskz_mov_ps(static_cast<__mmask16>(~special), x));
  y = _mm512_maskz_mov_ps(static_cast<__mmask16>(~below), y);
  y = _mm512_mask_mov_ps(y, above, _mm512_set1_ps(__builtin_inff()));
  return _mm512_mask_mov_ps(y, nan, _mm512_set1_ps(__builtin_nanf("")));
}

FORERUN_AVX512 void exponentials(const float* from, float* to, intptr_t n) {
  intptr_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const __m512 x = _mm512_loadu_ps(from + i);
    const bool ordinary = _mm512_cmp_ps_mask(_mm512_abs_ps(x), _mm512_set1_ps(kMost), _CMP_NLT_UQ) == 0;
    _mm512_storeu_ps(to + i, ordinary ? exponential(x) : any_exponential(x));
  }
  if (i == n) return;
  const auto rest = static_cast<__mmask16>((1U << (n - i)) - 1);
  _mm512_mask_storeu_ps(to + i, rest, any_exponential(_mm512_maskz_loadu_ps(rest, from + i)));
}

// data: NumPy's loop.
void run(char** args, const intptr_t* n, const intptr_t* steps, void* data) {
  constexpr intptr_t kStep = sizeof(float);
  const char *from = args[0], *to = args[1];
  const bool apart = from == to || from + *n * kStep <= to || to + *n * kStep <= from;
  if (steps[0] == kStep && steps[1] == kStep && apart)
    return exponentials(reinterpret_cast<const float*>(from), reinterpret_cast<float*>(args[1]), *n);
  const auto& numpy = *static_cast<const Loop*>(data);
  numpy.function(args, n, steps, numpy.data);
}

// Whether both give the same bits for values of all magnitudes: versions of NumPy may compute in another way.
bool agree(const Loop& numpy) {
  constexpr intptr_t kMany = 4096, kStep = sizeof(float);
  std::vector<float> values(kMany), own(kMany), expected(kMany);
  for (uint32_t i = 0; i < kMany; ++i) {
    const uint32_t bits =
        i % 2 ? i * 1048583U : (i & 2U) << 30 | 0x30000000U + i / 4 * 201203U;  // all; of sizes near 1
    std::memcpy(&values[i], &bits, sizeof bits);
  }
  exponentials(values.data(), own.data(), kMany);
  char* args[] = {reinterpret_cast<char*>(values.data()), reinterpret_cast<char*>(expected.data())};
  const intptr_t steps[] = {kStep, kStep};
  numpy.function(args, &kMany, steps, numpy.data);
  return std::memcmp(own.data(), expected.data(), static_cast<size_t>(kMany) * sizeof(float)) == 0;
}

}  // namespace

Loop exponential_loop(Loop numpy) {
  if (!has_avx512() || !agree(numpy)) return numpy;
  Loop own = numpy;
  own.function = run;
  auto* fallback = new Loop(numpy);  // never freed, as pending ops may use it
  own.data = fallback, own.fallback = fallback;
  return own;
}

#else

Loop exponential_loop(Loop numpy) { return numpy; }

#endif

}  // namespace forerun
