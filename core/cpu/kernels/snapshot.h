// Helpers of kernels that read memory which they also write.
#pragma once
#include <cstring>
#include <memory>
#include <utility>

#include "array/array.h"

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
  // data: of the element at `offset` of the storage. Returns its address in a copy of the storage's bytes in `range`.
  const char* take_range(const char* data, int64_t offset, std::pair<int64_t, int64_t> range) {
    size_t bytes = static_cast<size_t>(range.second - range.first);
    bytes_.reset(new char[bytes]);
    std::memcpy(bytes_.get(), data - offset + range.first, bytes);
    return bytes_.get() + (offset - range.first);
  }

 private:
  std::unique_ptr<char[]> bytes_;
};

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
