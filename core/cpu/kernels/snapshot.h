// Helpers of kernels that read memory which they also write.
#pragma once
#include <algorithm>
#include <memory>

#include "array/array.h"
#include "array/iteration_space.h"

namespace forerun {

// Whether writing to one may change values read from the other.
inline bool overlap(const Storage* a, const Layout& of_a, const Storage* b, const Layout& of_b) {
  if (a != b) return false;
  return !of_a.region().apart(of_b.region());
}

// A copy of the values that an op reads, if it writes them as well.
class Snapshot {
 public:
  // Copies the elements of that shape, the first one at `data`; their strides become those of the copy, where axes of
  // stride 0 keep it. Returns the address of the first element.
  char* take(const char* data, DType type, const Dims& shape, Dims& strides);

 private:
  std::unique_ptr<char[]> bytes_;
};

// Calls f(kernel, base): with a copy of the kernel if there are inputs that it must copy before it writes, and their
// copies in `base`. Such an op has one tile.
template <class K, class F>
void with_copied_inputs(const K& kernel, int operands, char** base, F f) {
  if (std::none_of(kernel.copies, kernel.copies + operands, [](bool copied) { return copied; })) return f(kernel);
  K own(kernel);
  Snapshot snapshots[IterationSpace::kMaxOperands];
  for (int k = 0; k < operands; ++k)
    if (own.copies[k]) base[k] = snapshots[k].take(base[k], own.part_[k].dtype, own.nest.shape, own.nest.strides[k]);
  f(own);
}

// Positions of all axes but the last.
struct Rows {
  Dims shape;
  int64_t count() const {
    int64_t n = 1;
    for (int i = 0; i + 1 < shape.size(); ++i) n *= shape[i];
    return n;
  }
  int64_t at(int64_t row, const Dims& strides) const { return offset_at(row, shape, strides, shape.size() - 1); }
};

}  // namespace forerun
