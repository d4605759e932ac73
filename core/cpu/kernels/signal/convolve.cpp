#include "cpu/kernels/signal/convolve.h"

#include <algorithm>
#include <cstring>

#include "base/rounding.h"
#include "base/simd/simd_target.h"
#include "cpu/kernels/tile_elements.h"
#include "device/op_spec.h"

namespace forerun {

namespace {

constexpr int64_t kBlock = 1 << 10;  // outputs to which products are added repeatedly, in the L1 cache

#define FORERUN_ADD_PRODUCTS(type)                                                           \
  FORERUN_CLONES void add_products(const type* values, type weight, type* sums, int64_t n) { \
    for (int64_t i = 0; i < n; ++i) sums[i] += values[i] * weight;                           \
  }
FORERUN_ADD_PRODUCTS(float)
FORERUN_ADD_PRODUCTS(double)
#undef FORERUN_ADD_PRODUCTS

class NeighboursKernel final : public Kernel {
 public:
  NeighboursKernel(const Array& in, const Array& weights, int64_t first, const Array& out)
      : in_offset_(in.layout.offset), weights_offset_(weights.layout.offset), out_offset_(out.layout.offset),
        step_(weights.layout.strides[0]), n_(in.layout.size), count_(weights.layout.size), size_(out.layout.size),
        first_(first), wide_(out.layout.dtype == DType::f64) {}
  const char* name() const override { return "correlate"; }
  int64_t tiles() const override { return std::max<int64_t>(1, ceil_div(size_, kSlowTileElements)); }
  bool droppable() const override { return true; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  bool describe(Op&, OpSpec& spec) const override {
    const DType t = wide_ ? DType::f64 : DType::f32;
    const auto item = static_cast<int64_t>(item_size(t));
    auto vector = [&](int64_t n, int64_t step, int64_t offset) { return strided(t, {1, 1, n}, {0, 0, step}, offset); };
    spec.kind = "correlate", spec.name = name();
    spec.input(0, vector(n_, item, in_offset_)), spec.input(1, vector(count_, step_, weights_offset_));
    spec.output(2, vector(size_, item, out_offset_));
    spec.set("groups", int64_t{1}), spec.set("kernel", std::vector<int64_t>{count_});
    for (const char* one : {"stride", "dilate"}) spec.set(one, std::vector<int64_t>{1});
    spec.set("pad", std::vector<int64_t>{-first_});
    return true;
  }
  void run(Op& op, int64_t tile) override { wide_ ? sums<double>(op, tile) : sums<float>(op, tile); }

 private:
  template <class T>
  void sums(Op& op, int64_t tile) const {
    const T* in = reinterpret_cast<const T*>(operand_data(op, 0, in_offset_));
    const char* from = operand_data(op, 1, weights_offset_);
    T* out = reinterpret_cast<T*>(operand_data(op, 2, out_offset_));
    T weights[kMostWeights];
    for (int64_t j = 0; j < count_; ++j) std::memcpy(&weights[j], from + j * step_, sizeof(T));
    for (int64_t i = tile * kSlowTileElements, end = std::min(size_, i + kSlowTileElements); i < end; i += kBlock)
      block(in, weights, out, i, std::min(kBlock, end - i));
  }
  // Computes n of the sums, from number i on.
  template <class T>
  void block(const T* in, const T* weights, T* out, int64_t i, int64_t n) const {
    std::fill_n(out + i, n, T(0));
    for (int64_t j = 0; j < count_; ++j) {
      const int64_t shift = first_ + j, begin = std::max(i, -shift), end = std::min(i + n, n_ - shift);
      if (begin < end) add_products(in + begin + shift, weights[j], out + begin, end - begin);
    }
  }

  int64_t in_offset_, weights_offset_, out_offset_, step_, n_, count_, size_, first_;
  bool wide_;
};

}  // namespace

void build_neighbours(Op& op, const Array& in, const Array& weights, int64_t first, const Array& out) {
  add(op, in, Mode::read);
  add(op, weights, Mode::read);
  op.add(out.storage(), out.write_mode());
  op.cost =
      static_cast<uint32_t>(std::min<int64_t>(60 + out.layout.nbytes() / 16 * (2 + weights.layout.size), INT32_MAX));
  op.emplace<NeighboursKernel>(in, weights, first, out);
}

}  // namespace forerun
