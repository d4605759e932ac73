#include "cpu/kernels/reduce/count_nonzero.h"

#include <algorithm>
#include <cstring>

#include "base/simd/simd_target.h"
#include "device/op_spec.h"

namespace forerun {

namespace {

// Counts values that are not 0: they are added in lanes of a byte, which count to 255.
FORERUN_CLONES int64_t counted(const uint8_t* values, int64_t n) {
  constexpr int kLanes = 64, kRounds = 255;
  int64_t total = 0, i = 0;
  while (n - i >= kLanes) {
    uint8_t lanes[kLanes] = {};
    for (int round = 0; round < kRounds && n - i >= kLanes; ++round, i += kLanes)
      for (int k = 0; k < kLanes; ++k) lanes[k] = static_cast<uint8_t>(lanes[k] + (values[i + k] != 0));
    for (int k = 0; k < kLanes; ++k) total += lanes[k];
  }
  for (; i < n; ++i) total += values[i] != 0;
  return total;
}

class CountKernel final : public Kernel {
 public:
  CountKernel(int64_t n, int64_t from, int64_t to) : n_(n), from_(from), to_(to) {}
  const char* name() const override { return "count_nonzero"; }
  bool droppable() const override { return true; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  bool describe(Op&, OpSpec& spec) const override {
    spec.kind = "count_nonzero", spec.name = name();
    spec.input(0, strided(DType::b1, {n_}, {1}, from_)), spec.output(1, strided(DType::i64, {}, {}, to_));
    spec.set("axes", std::vector<int64_t>{0});
    return true;
  }
  void run(Op& op, int64_t) override {
    int64_t total = count_true(operand_data(op, 0, from_), n_);
    std::memcpy(operand_data(op, 1, to_), &total, sizeof total);
  }

 private:
  int64_t n_, from_, to_;
};

}  // namespace

int64_t count_true(const char* bools, int64_t n) { return counted(reinterpret_cast<const uint8_t*>(bools), n); }

void build_count(Op& op, const Array& in, const Array& out) {
  op.add(in.storage(), Mode::read);
  op.add(out.storage(), out.write_mode());
  op.cost = static_cast<uint32_t>(std::min<int64_t>(50 + in.layout.size / 32, INT32_MAX));
  op.emplace<CountKernel>(in.layout.size, in.layout.offset, out.layout.offset);
}

}  // namespace forerun
