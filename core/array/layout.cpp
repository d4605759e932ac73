#include "array/layout.h"

#include <numeric>

#include "base/error.h"

namespace forerun {

namespace {

// Elements of a shape. Throws Error(value) if nobody can address them.
int64_t count_of(const char* op, DType dtype, const Dims& shape) {
  int64_t n = 1, bytes = 0;
  bool fits = true, empty = false;
  for (int64_t extent : shape) fits &= !__builtin_mul_overflow(n, extent, &n), empty |= extent == 0;
  if (empty) return 0;
  if (!fits || __builtin_mul_overflow(n, static_cast<int64_t>(item_size(dtype)), &bytes))
    throw Error(ErrorKind::value, std::string(op) + ": array must have fewer than 2**63 bytes, got shape " + to_string(shape));
  return n;
}

}  // namespace

std::pair<int64_t, int64_t> Layout::range() const {
  if (size == 0) return {offset, offset};
  int64_t low = offset, high = offset + static_cast<int64_t>(item_size(dtype));
  for (int i = 0; i < ndim(); ++i) (strides[i] < 0 ? low : high) += (shape[i] - 1) * strides[i];
  return {low, high};
}

Layout Layout::dense(DType dtype, const Dims& shape) {
  Layout layout;
  layout.dtype = dtype;
  layout.shape = shape;
  layout.strides = Dims(shape.size());
  layout.size = count_of("array", dtype, shape);
  int64_t step = static_cast<int64_t>(item_size(dtype));
  for (int i = shape.size() - 1; i >= 0; --i) {
    layout.strides[i] = step;
    step *= layout.size ? shape[i] : 1;
  }
  return layout;
}

Dims broadcast(const char* op, const Dims& a, const Dims& b) {
  int n = std::max(a.size(), b.size());
  Dims shape(n, 1);
  for (int i = 1; i <= n; ++i) {
    int64_t x = i <= a.size() ? a[a.size() - i] : 1, y = i <= b.size() ? b[b.size() - i] : 1;
    if (x != y && x != 1 && y != 1)
      throw Error(ErrorKind::value, std::string(op) + ": shapes must broadcast together, got " + to_string(a) + " and " + to_string(b));
    shape[n - i] = x == 1 ? y : x;
  }
  return shape;
}

Layout broadcast_to(const char* op, const Layout& a, const Dims& shape) {
  int extra = shape.size() - a.ndim();
  bool fits = extra >= 0;
  for (int i = 0; fits && i < a.ndim(); ++i) fits = a.shape[i] == shape[extra + i] || a.shape[i] == 1;
  if (!fits)
    throw Error(ErrorKind::value, std::string(op) + ": shape must broadcast to " + to_string(shape) + ", got " + to_string(a.shape));
  Layout seen;
  seen.dtype = a.dtype;
  seen.shape = shape;
  seen.strides = Dims(shape.size());
  seen.offset = a.offset;
  seen.size = count_of(op, a.dtype, shape);
  for (int i = 0; i < a.ndim(); ++i) seen.strides[extra + i] = a.shape[i] == 1 ? 0 : a.strides[i];
  return seen;
}

namespace {

int64_t magnitude(int64_t stride) { return stride < 0 ? -stride : stride; }

// Whether axis i should stand outside axis j: by the output's strides, then the inputs'. Equal strides: keep the order.
bool outside(const Dims* const* strides, int operands, int i, int j) {
  for (int k = operands - 1; k >= 0; --k) {
    int64_t a = magnitude((*strides[k])[i]), b = magnitude((*strides[k])[j]);
    if (a == 0 || b == 0 || a == b) continue;
    return a > b;
  }
  return true;
}

}  // namespace

Nest make_nest(const Dims& shape, const Dims* const* strides, int operands) {
  int order[kMaxDims], n = 0;
  for (int i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    int at = n++;
    for (; at > 0 && !outside(strides, operands, order[at - 1], i); --at) order[at] = order[at - 1];
    order[at] = i;
  }
  int64_t extent[kMaxDims], step[Nest::kMaxOperands][kMaxDims];
  int m = 0;  // axes after merging
  for (int at = 0; at < n; ++at) {
    int axis = order[at];
    bool merges = m > 0;
    for (int k = 0; merges && k < operands; ++k) merges = step[k][m - 1] == (*strides[k])[axis] * shape[axis];
    if (merges)
      extent[m - 1] *= shape[axis];
    else
      extent[m++] = shape[axis];
    for (int k = 0; k < operands; ++k) step[k][m - 1] = (*strides[k])[axis];
  }
  if (m == 0) {
    extent[0] = 1;
    for (int k = 0; k < operands; ++k) step[k][0] = 0;
    m = 1;
  }
  Nest nest;
  nest.operands = operands;
  nest.shape = Dims(extent, m);
  for (int k = 0; k < operands; ++k) nest.strides[k] = Dims(step[k], m);
  return nest;
}

}  // namespace forerun
