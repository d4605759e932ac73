#include "kernels/random.h"

#include <algorithm>
#include <cstring>

extern "C" {
#include <numpy/random/bitgen.h>
// NumPy's distributions, from its static library.
void random_standard_normal_fill(bitgen_t*, intptr_t, double*);
void random_standard_normal_fill_f(bitgen_t*, intptr_t, float*);
uint64_t random_bounded_uint64(bitgen_t*, uint64_t off, uint64_t rng, uint64_t mask, bool masked);
}

namespace forerun {

namespace {

constexpr int64_t kTile = 1 << 14;  // numbers with a counter range of their own

// Philox4x64-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): bits are a function of key and counter.
class Philox {
 public:
  Philox(uint64_t seed, uint64_t number, uint64_t tile) : key_{seed, number}, tile_(tile) {
    bits_ = bitgen_t{this, next64, next32, next_double, next64};
  }
  bitgen_t* bits() { return &bits_; }
  uint32_t next_half() {
    if (has_half_) return has_half_ = false, half_;
    uint64_t v = next();
    has_half_ = true, half_ = static_cast<uint32_t>(v >> 32);
    return static_cast<uint32_t>(v);
  }
  uint64_t next() {
    if (at_ == kBuffer) refill();
    return buffer_[at_++];
  }

 private:
  static constexpr int kBuffer = 64;
  static uint64_t next64(void* s) { return static_cast<Philox*>(s)->next(); }
  static uint32_t next32(void* s) { return static_cast<Philox*>(s)->next_half(); }
  static double next_double(void* s) { return static_cast<double>(next64(s) >> 11) * (1.0 / 9007199254740992.0); }

  void refill() {
    for (int i = 0; i < kBuffer; i += 4) block(buffer_ + i);
    at_ = 0;
  }
  void block(uint64_t* out) {
    uint64_t c0 = counter_++, c1 = tile_, c2 = 0, c3 = 0, k0 = key_[0], k1 = key_[1];
    for (int round = 0; round < 10; ++round) {
      unsigned __int128 p0 = static_cast<unsigned __int128>(0xD2E7470EE14C6C93ull) * c0, p1 = static_cast<unsigned __int128>(0xCA5A826395121157ull) * c2;
      c0 = static_cast<uint64_t>(p1 >> 64) ^ c1 ^ k0, c1 = static_cast<uint64_t>(p1);
      c2 = static_cast<uint64_t>(p0 >> 64) ^ c3 ^ k1, c3 = static_cast<uint64_t>(p0);
      k0 += 0x9E3779B97F4A7C15ull, k1 += 0xBB67AE8584CAA73Bull;
    }
    out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
  }

  uint64_t key_[2], tile_, counter_ = 0, buffer_[kBuffer];
  int at_ = kBuffer;
  bool has_half_ = false;
  uint32_t half_ = 0;
  bitgen_t bits_;
};

class RandomKernel final : public Kernel {
 public:
  const char* name() const override { return kind == Distribution::uniform ? "uniform" : kind == Distribution::normal ? "normal" : "integers"; }
  bool droppable() const override { return true; }
  int64_t tiles() const override { return std::max<int64_t>(1, (size + kTile * kTilesAtOnce - 1) / (kTile * kTilesAtOnce)); }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  uint64_t* key() override { return key_; }
  void run(Op& op, int64_t part) override {
    char* out = operand_data(op, 0, offset);
    for (int64_t tile = part * kTilesAtOnce; tile < (part + 1) * kTilesAtOnce && tile * kTile < size; ++tile) {
      Philox philox(key_[0], key_[1], static_cast<uint64_t>(tile));
      int64_t n = std::min(kTile, size - tile * kTile);
      fill(philox, out + tile * kTile * static_cast<int64_t>(item_size(dtype)), n);
    }
  }

  Distribution kind;
  DType dtype;
  uint64_t key_[2], range;  // key: seed and number
  double lo, hi;
  int64_t low, size, offset;

 private:
  static constexpr int64_t kTilesAtOnce = 4;

  void fill(Philox& philox, char* out, int64_t n) {
    if (kind == Distribution::integers) return integers(philox, out, n);
    if (dtype == DType::f32)
      real<float>(philox, reinterpret_cast<float*>(out), n);
    else
      real<double>(philox, reinterpret_cast<double*>(out), n);
  }

  template <class T>
  void real(Philox& philox, T* out, int64_t n) {
    T a = static_cast<T>(lo), b = static_cast<T>(hi);
    if (kind == Distribution::normal) {
      if constexpr (sizeof(T) == 4)
        random_standard_normal_fill_f(philox.bits(), n, out);
      else
        random_standard_normal_fill(philox.bits(), n, out);
      if (a != 0 || b != 1)
        for (int64_t i = 0; i < n; ++i) out[i] = a + b * out[i];
      return;
    }
    T width = b - a;
    if constexpr (sizeof(T) == 4) {
      for (int64_t i = 0; i < n; i += 2) {
        uint64_t v = philox.next();
        out[i] = a + width * (static_cast<float>(static_cast<uint32_t>(v) >> 8) * (1.0f / 16777216.0f));
        if (i + 1 < n) out[i + 1] = a + width * (static_cast<float>(v >> 40) * (1.0f / 16777216.0f));
      }
    } else {
      for (int64_t i = 0; i < n; ++i) out[i] = a + width * (static_cast<double>(philox.next() >> 11) * (1.0 / 9007199254740992.0));
    }
    if (b > a)  // rounding may reach the open end
      for (int64_t i = 0; i < n; ++i)
        if (out[i] >= b) out[i] = a;
  }

  // Lemire (2019), "Fast random integer generation in an interval": a product's upper half, and a rare second draw.
  template <class T>
  void narrow(Philox& philox, char* out, int64_t n) {
    uint32_t width = static_cast<uint32_t>(range) + 1, reject = -width % width;
    for (int64_t i = 0; i < n; ++i) {
      uint64_t product = uint64_t{philox.next_half()} * width;
      while (static_cast<uint32_t>(product) < reject) product = uint64_t{philox.next_half()} * width;
      T value = static_cast<T>((product >> 32) + static_cast<uint64_t>(low));
      std::memcpy(out + i * static_cast<int64_t>(sizeof value), &value, sizeof value);
    }
  }

  void integers(Philox& philox, char* out, int64_t n) {
    if (range < UINT32_MAX) switch (item_size(dtype)) {
      case 1: return narrow<uint8_t>(philox, out, n);
      case 2: return narrow<uint16_t>(philox, out, n);
      case 4: return narrow<uint32_t>(philox, out, n);
      default: return narrow<uint64_t>(philox, out, n);
    }
    size_t bytes = item_size(dtype);
    for (int64_t i = 0; i < n; ++i) {
      uint64_t v = range == UINT64_MAX ? philox.next() : random_bounded_uint64(philox.bits(), 0, range, 0, false);
      v += static_cast<uint64_t>(low);
      std::memcpy(out + i * static_cast<int64_t>(bytes), &v, bytes);  // little-endian: the low bytes
    }
  }
};

}  // namespace

void build_random(Op& op, Distribution kind, uint64_t seed, uint64_t number, double lo, double hi, int64_t low, uint64_t range, const Array& out) {
  op.add(out.storage(), out.write_mode());
  op.cost = static_cast<uint32_t>(std::min<int64_t>(100 + out.layout.size * 8, INT32_MAX));
  RandomKernel& k = op.emplace<RandomKernel>();
  k.kind = kind, k.dtype = out.layout.dtype, k.key_[0] = seed, k.key_[1] = number;
  k.lo = lo, k.hi = hi, k.low = low, k.range = range;
  k.size = out.layout.size, k.offset = out.layout.offset;
}

}  // namespace forerun
