#include "cpu/kernels/random/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/rounding.h"
#include "base/simd/simd_target.h"
#include "device/op_spec.h"

// This code is compiled several times, for different instruction sets: the bits are the same, as every operation is
// exact or rounded once, and none is contracted (cmake/Compiler.cmake). Loops are written to be vectorised.

namespace forerun {

namespace {

constexpr int kBlocks = 16, kWords = kBlocks * 16;  // of one chunk: as many blocks as the widest vector has lanes
constexpr int64_t kChunkBytes = kWords * 4, kTileChunks = 256;
constexpr uint64_t kNarrow = 1 << 20;  // ranges below are drawn from 32 bits, and almost never twice

// The parameters of a draw; a number depends on them and its position only.
struct Draw {
  Distribution kind;
  DType dtype;
  uint64_t key[2];      // seed, and number of the op in its stream
  double lo, hi;        // the ends; or location and scale of standard numbers
  uint64_t low, range;  // of integers: range = last - low
  int64_t size;

  bool wide() const { return kind == Distribution::integers ? range >= kNarrow : dtype == DType::f64; }
  int64_t per_chunk() const { return wide() ? kWords / 2 : kWords; }  // numbers: each takes one word of 32 or 64 bits
};

// The words of a chunk: ChaCha with eight rounds (Bernstein 2008, "ChaCha, a variant of Salsa20"), a block per i. They
// depend on the position only, without state. `attempt` is for words that were rejected.
FORERUN_EACH void make_words(const Draw& d, uint64_t chunk, uint32_t attempt, uint32_t* out) {
  const uint32_t seed0 = static_cast<uint32_t>(d.key[0]), seed1 = static_cast<uint32_t>(d.key[0] >> 32),
                 number0 = static_cast<uint32_t>(d.key[1]), number1 = static_cast<uint32_t>(d.key[1] >> 32),
                 counter0 = static_cast<uint32_t>(chunk * kBlocks),
                 counter1 = static_cast<uint32_t>(chunk * kBlocks >> 32);
  constexpr uint32_t k0 = 0x61707865, k1 = 0x3320646e, k2 = 0x79622d32, k3 = 0x6b206574;  // "expand 32-byte k"
  for (uint32_t i = 0; i < kBlocks; ++i) {
    uint32_t a0 = k0, a1 = k1, a2 = k2, a3 = k3, b0 = seed0, b1 = seed1, b2 = number0, b3 = number1;
    uint32_t c0 = 0, c1 = 0, c2 = 0, c3 = 0, d0 = counter0 + i, d1 = counter1, d2 = attempt, d3 = 0;
    auto quarter = [](uint32_t& a, uint32_t& b, uint32_t& c, uint32_t& e) __attribute__((always_inline)) {
      a += b, e = std::rotl(e ^ a, 16), c += e, b = std::rotl(b ^ c, 12);
      a += b, e = std::rotl(e ^ a, 8), c += e, b = std::rotl(b ^ c, 7);
    };
    auto two_rounds = [&]() __attribute__((always_inline)) {
      quarter(a0, b0, c0, d0), quarter(a1, b1, c1, d1), quarter(a2, b2, c2, d2), quarter(a3, b3, c3, d3);
      quarter(a0, b1, c2, d3), quarter(a1, b2, c3, d0), quarter(a2, b3, c0, d1), quarter(a3, b0, c1, d2);
    };
    two_rounds(), two_rounds(), two_rounds(), two_rounds();
    uint32_t* to = out + i;  // word by word, so that vectors are stored as they are
    to[0] = a0 + k0, to[16] = a1 + k1, to[32] = a2 + k2, to[48] = a3 + k3;
    to[64] = b0 + seed0, to[80] = b1 + seed1, to[96] = b2 + number0, to[112] = b3 + number1;
    to[128] = c0, to[144] = c1, to[160] = c2, to[176] = c3;
    to[192] = d0 + counter0 + i, to[208] = d1 + counter1, to[224] = d2 + attempt, to[240] = d3;
  }
}

// Floats from words, exactly: the conversions that every processor has vectors for.
template <class T>
struct Float;

template <>
struct Float<float> {
  using Word = uint32_t;
  static constexpr int kMantissa = 23, kBits = 31, kTerms = 5;  // kBits: of whole() and centred()
  FORERUN_EACH static float unit(Word w) {
    return static_cast<float>(static_cast<int32_t>(w >> 8)) * 0x1p-24f;
  }  // [0, 1)
  FORERUN_EACH static float whole(Word w) { return static_cast<float>(static_cast<int32_t>(w >> 1)); }  // [0, 2^31)
  FORERUN_EACH static float below(Word w) {
    return static_cast<float>(static_cast<int32_t>(w >> 1 | 1u << 31));
  }  // whole() - 2^31
  FORERUN_EACH static float centred(Word w) {
    return static_cast<float>(static_cast<int32_t>(w) >> 1);
  }  // [-2^30, 2^30)
  FORERUN_EACH static float exponent(Word e) { return static_cast<float>(static_cast<int32_t>(e)); }
};

template <>
struct Float<double> {
  using Word = uint64_t;
  static constexpr int kMantissa = 52, kBits = 52, kTerms = 10;
  FORERUN_EACH static double joined(Word bits, Word high) { return std::bit_cast<double>(bits | high); }
  static constexpr Word k2p52 = 0x4330000000000000,
                        k2p84 = 0x4530000000000000;  // 2^52, 2^84: the bits below are integers, or multiples of 2^32
  FORERUN_EACH static double unit(Word w) {
    return ((joined(w >> 32, k2p84) - (0x1p84 + 0x1p52)) + joined(w & 0xfffff800, k2p52)) * 0x1p-64;
  }
  FORERUN_EACH static double whole(Word w) { return joined(w >> 12, k2p52) - 0x1p52; }
  FORERUN_EACH static double below(Word w) { return joined(w >> 12, k2p52) - 0x1p53; }
  FORERUN_EACH static double centred(Word w) { return joined(w >> 12, k2p52) - 0x1.8p52; }
  FORERUN_EACH static double exponent(Word e) { return joined(e, k2p52) - 0x1p52; }
};

template <class T>
FORERUN_EACH typename Float<T>::Word word(const uint32_t* words, int i) {
  typename Float<T>::Word w;
  std::memcpy(&w, words + static_cast<size_t>(i) * (sizeof w / 4), sizeof w);
  return w;
}

// -log(u) for u = (the upper bits of the word + 1/2) / 2^kBits, to about the last bit also where u is near 1.
template <class T>
FORERUN_EACH T minus_log(typename Float<T>::Word w) {
  using F = Float<T>;
  using Word = typename F::Word;
  constexpr T scale = T(1) / static_cast<T>(Word{1} << F::kBits), root_half = T(0.70710678118654752440),
              ln2 = T(0.69314718055994530942);
  // u = m * 2^e, m in [sqrt(1/2), sqrt(2)).
  Word bits = std::bit_cast<Word>((F::whole(w) + T(0.5)) * scale);
  Word e = (bits - std::bit_cast<Word>(root_half) + (Word{64} << F::kMantissa)) >> F::kMantissa;  // + 64
  T m = std::bit_cast<T>(bits - ((e - 64) << F::kMantissa));
  T near = (F::below(w) + T(0.5)) * scale;  // u - 1, more exact than m - 1
  T f = e == 64 ? near : m - 1;
  // log(1 + f) = 2 atanh(s)
  T s = f / (f + 2), z = s * s, sum = 0;
  for (int i = F::kTerms; i-- > 1;) sum = (sum + T(1) / static_cast<T>(2 * i + 1)) * z;
  return (T(64) - F::exponent(e)) * ln2 - 2 * (s + s * sum);
}

// Box and Muller (1958): a point in the plane with normal coordinates has an exponential squared radius and a uniform
// angle.
template <class T>
FORERUN_EACH void normal_pair(typename Float<T>::Word radius, typename Float<T>::Word angle, T& x, T& y) {
  using F = Float<T>;
  constexpr T to_angle = T(0.78539816339744830962) / static_cast<T>(typename F::Word{1} << (F::kBits - 1));
  T r = std::sqrt(2 * minus_log<T>(radius));
  T a = (F::centred(angle) + T(0.5)) * to_angle, z = a * a, sine = 0,
    cosine = 0;  // the angle is within an eighth of the circle to either side
  constexpr int terms = sizeof(T) == 4 ? 5 : 8;
  for (int i = terms; i-- > 0;) {
    sine = (1 - sine) * z * (T(1) / static_cast<T>((2 * i + 2) * (2 * i + 3)));
    cosine = (1 - cosine) * z * (T(1) / static_cast<T>((2 * i + 1) * (2 * i + 2)));
  }
  sine = a - a * sine, cosine = 1 - cosine;
  // The remaining bits choose the quarter: mirrored at the diagonal, and at the origin.
  r = radius & 1 ? -r : r;
  bool mirrored = angle & 1;
  x = r * (mirrored ? sine : cosine), y = r * (mirrored ? cosine : sine);
}

template <class T>
FORERUN_EACH void draw_real(const Draw& d, const uint32_t* words, T* out) {
  constexpr int n = static_cast<int>(kChunkBytes / sizeof(T));
  const T a = static_cast<T>(d.lo), b = static_cast<T>(d.hi), width = b - a;
  if (d.kind == Distribution::uniform) {
    const T end = b > a ? b : std::numeric_limits<T>::infinity();
    for (int i = 0; i < n; ++i) {
      T x = a + width * Float<T>::unit(word<T>(words, i));
      out[i] = x < end ? x : a;  // rounding may reach the open end
    }
  } else if (d.kind == Distribution::exponential) {
    for (int i = 0; i < n; ++i) out[i] = a + b * minus_log<T>(word<T>(words, i));
  } else {
    for (int i = 0; i < n / 2; ++i) {
      T x, y;
      normal_pair<T>(word<T>(words, i), word<T>(words, i + n / 2), x, y);
      out[i] = a + b * x, out[i + n / 2] = a + b * y;
    }
  }
}

[[gnu::noinline]] void make_words_again(const Draw& d, uint64_t chunk, uint32_t attempt, uint32_t* out) {
  make_words(d, chunk, attempt, out);
}

// Lemire (2019), "Fast random integer generation in an interval": the upper half of a product. Words that would bias
// the result are replaced by those of the next attempt.
template <class T, class Real, class Product>
FORERUN_EACH void draw_integers(const Draw& d, uint32_t* words, uint64_t chunk, T* out) {
  using Word = typename Float<Real>::Word;
  constexpr int n = static_cast<int>(kChunkBytes / sizeof(Word)), bits = sizeof(Word) * 8;
  const Word width = static_cast<Word>(d.range + 1), refuse = width ? static_cast<Word>(-width) % width : 0;
  const T low = static_cast<T>(d.low);
  auto product = [&](int i) __attribute__((always_inline)) { return Product{word<Real>(words, i)} * width; };
  if (width == 0) {  // every word is a number
    for (int i = 0; i < n; ++i) out[i] = static_cast<T>(static_cast<T>(word<Real>(words, i)) + low);
    return;
  }
  for (uint32_t attempt = 1;; ++attempt) {
    Word any = 0;
    for (int i = 0; i < n; ++i) {
      Product p = product(i);
      out[i] = static_cast<T>(static_cast<T>(p >> bits) + low);
      any |= static_cast<Word>(p) < refuse;
    }
    if (!any) return;
    uint32_t next[kWords];
    make_words_again(d, chunk, attempt, next);
    for (int i = 0; i < n; ++i)
      if (static_cast<Word>(product(i)) < refuse)
        std::memcpy(words + i * (kWords / n), next + i * (kWords / n), sizeof(Word));
  }
}

template <class T>
FORERUN_EACH void draw_integers(const Draw& d, uint32_t* words, uint64_t chunk, char* out) {
  T* to = reinterpret_cast<T*>(out);
  if (d.wide())
    draw_integers<T, double, unsigned __int128>(d, words, chunk, to);
  else
    draw_integers<T, float, uint64_t>(d, words, chunk, to);
}

// The numbers of chunks [first, last), of an array that begins at `out`.
FORERUN_EACH void draw_chunks(const Draw& d, char* out, int64_t first, int64_t last) {
  alignas(64) uint32_t words[kWords];
  alignas(64) char rest[kWords * 8];  // for an array that ends within a chunk
  const int64_t n = d.per_chunk(), item = static_cast<int64_t>(item_size(d.dtype));
  for (int64_t i = first; i < last; ++i) {
    const int64_t position = i * n, left = std::min(n, d.size - position);
    char* to = left == n ? out + position * item : rest;
    const uint64_t chunk = static_cast<uint64_t>(i);
    make_words(d, chunk, 0, words);
    if (d.kind == Distribution::integers) {
      switch (item) {
        case 1: draw_integers<uint8_t>(d, words, chunk, to); break;
        case 2: draw_integers<uint16_t>(d, words, chunk, to); break;
        case 4: draw_integers<uint32_t>(d, words, chunk, to); break;
        default: draw_integers<uint64_t>(d, words, chunk, to); break;
      }
    } else if (d.dtype == DType::f32) {
      draw_real(d, words, reinterpret_cast<float*>(to));
    } else {
      draw_real(d, words, reinterpret_cast<double*>(to));
    }
    if (to == rest) std::memcpy(out + position * item, rest, static_cast<size_t>(left * item));
  }
}

void draw_any(const Draw& d, char* out, int64_t first, int64_t last) { draw_chunks(d, out, first, last); }
FORERUN_AVX2 void draw_avx2(const Draw& d, char* out, int64_t first, int64_t last) { draw_chunks(d, out, first, last); }
FORERUN_AVX512 void draw_avx512(const Draw& d, char* out, int64_t first, int64_t last) {
  draw_chunks(d, out, first, last);
}

const auto draw_numbers = has_avx512() ? draw_avx512 : has_avx2() ? draw_avx2 : draw_any;

class RandomKernel final : public Kernel {
 public:
  const char* name() const override {
    constexpr const char* names[] = {"uniform", "normal", "exponential", "integers"};
    return names[static_cast<int>(draw.kind)];
  }
  bool droppable() const override { return true; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  uint64_t* key() override { return draw.key; }
  bool describe(Op&, OpSpec& spec) const override {
    spec.kind = "random", spec.name = name();
    for (const uint64_t& part : draw.key) spec.scalar(DType::u64, &part);
    const bool whole = draw.kind == Distribution::integers;
    spec.scalar(whole ? DType::i64 : DType::f64, whole ? static_cast<const void*>(&draw.low) : &draw.lo);
    spec.scalar(whole ? DType::u64 : DType::f64, whole ? static_cast<const void*>(&draw.range) : &draw.hi);
    spec.output(0, strided(draw.dtype, {draw.size}, {static_cast<int64_t>(item_size(draw.dtype))}, offset));
    if (whole) spec.set("wide", draw.wide());
    return true;
  }
  int64_t tiles() const override { return std::max<int64_t>(1, ceil_div(chunks(), kTileChunks)); }
  void run(Op& op, int64_t tile) override {
    draw_numbers(draw, operand_data(op, 0, offset), tile * kTileChunks, std::min(chunks(), (tile + 1) * kTileChunks));
  }

  Draw draw;
  int64_t offset;

 private:
  int64_t chunks() const { return (draw.size + draw.per_chunk() - 1) / draw.per_chunk(); }
};

}  // namespace

void build_random(Op& op, Distribution kind, uint64_t seed, uint64_t number, double lo, double hi, int64_t low,
                  uint64_t range, const Array& out) {
  add(op, out, out.write_mode());
  op.cost = static_cast<uint32_t>(std::min<int64_t>(300 + out.layout.size, INT32_MAX));
  RandomKernel& k = op.emplace<RandomKernel>();
  k.draw = Draw{kind, out.layout.dtype, {seed, number}, lo, hi, static_cast<uint64_t>(low), range, out.layout.size};
  k.offset = out.layout.offset;
}

}  // namespace forerun
