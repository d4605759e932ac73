#include "array/layout.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace forerun {

namespace {

// Number of elements of a shape. Throws Error(value) if they cannot be addressed.
int64_t count_of(const char* op, DType dtype, const Dims& shape) {
  int64_t n = 1, bytes = 0;
  bool fits = true, empty = false;
  for (int64_t extent : shape) fits &= !__builtin_mul_overflow(n, extent, &n), empty |= extent == 0;
  if (empty) return 0;
  if (!fits || __builtin_mul_overflow(n, static_cast<int64_t>(item_size(dtype)), &bytes))
    throw Error(ErrorKind::value,
                std::string(op) + ": array must have fewer than 2**63 bytes, got shape " + to_string(shape));
  return n;
}

// The axes of a layout with more than one element, by the size of their steps.
struct Steps {
  int64_t step[kMaxDims], most[kMaxDims],
      reach[kMaxDims + 1];  // most: steps that can be taken; reach: of all axes before, in bytes
  int n = 0;
  int64_t item = 0;
  int looks = 20000;  // steps of the search that remain

  void add(int64_t bytes, int64_t extent) {
    int at = n++;
    for (; at > 0 && step[at - 1] > bytes; --at) step[at] = step[at - 1], most[at] = most[at - 1];
    step[at] = bytes, most[at] = extent - 1;
  }
  // Whether each axis's step is larger than the extent of all axes before it.
  bool apart() {
    reach[0] = 0;
    bool apart = true;
    for (int k = 0; k < n; ++k) {
      apart = apart && step[k] >= reach[k] + item;
      reach[k + 1] = reach[k] + step[k] * most[k];
    }
    return apart;
  }
  // Whether steps along the first k axes, at least one of them, lead from `at` bytes to less than an element's size
  // from the start.
  bool meet(int k, int64_t at, bool moved) {
    if (--looks < 0) return true;
    if (k == 0) return moved && at > -item && at < item;
    const int64_t s = step[k - 1], room = reach[k - 1] + item - 1;
    auto floor_div = [s](int64_t a) { return a >= 0 ? a / s : -((-a + s - 1) / s); };
    const int64_t high = std::min(most[k - 1], floor_div(room - at));
    for (int64_t d = std::max(moved ? -most[k - 1] : 0, -floor_div(room + at)); d <= high; ++d)
      if (meet(k - 1, at + d * s, moved || d != 0)) return true;
    return false;
  }
};

}  // namespace

bool Layout::overlaps_itself() const {
  if (contiguous()) return false;
  Steps steps;
  steps.item = static_cast<int64_t>(item_size(dtype));
  for (int i = 0; i < ndim(); ++i) {
    if (shape[i] == 1) continue;
    if (strides[i] == 0) return true;
    steps.add(strides[i] < 0 ? -strides[i] : strides[i], shape[i]);
  }
  return !steps.apart() && steps.meet(steps.n, 0, false);
}

bool Layout::packed() const {
  if (contiguous()) return true;
  int64_t step = static_cast<int64_t>(item_size(dtype));
  for (int64_t done = 1; done < size;) {  // the axis that continues without a gap
    int next = 0;
    while (next < ndim() && (shape[next] == 1 || strides[next] != step)) ++next;
    if (next == ndim()) return false;
    done *= shape[next], step *= shape[next];
  }
  return true;
}

std::pair<int64_t, int64_t> Layout::range() const {
  if (size == 0) return {offset, offset};
  int64_t low = offset, high = offset + static_cast<int64_t>(item_size(dtype));
  for (int i = 0; i < ndim(); ++i) (strides[i] < 0 ? low : high) += (shape[i] - 1) * strides[i];
  return {low, high};
}

namespace {

// The band of a layout's elements in each piece of `pitch` bytes; axes whose steps are whole pieces do not matter. A
// result with pitch 0 means that they may lie anywhere.
Region::Band band_of(const Layout& layout, int64_t item, int64_t pitch) {
  int64_t low = layout.offset, reach = item;
  for (int i = 0; i < layout.ndim(); ++i) {
    const int64_t step = layout.strides[i], way = (layout.shape[i] - 1) * step;
    if (way == 0 || step % pitch == 0) continue;
    low += std::min<int64_t>(way, 0), reach += way < 0 ? -way : way;
    if (reach >= pitch) return {};
  }
  const int64_t from = low % pitch;
  return from + reach <= pitch ? Region::Band{pitch, from, from + reach} : Region::Band{};
}

}  // namespace

Region Layout::region() const {
  auto [low, high] = range();
  Region found{low, high, {}};
  const auto item = static_cast<int64_t>(item_size(dtype));
  if (size <= 1 || ndim() > kMostRegionDims || low < 0) return found;
  auto narrower = [](const Region::Band& a, const Region::Band& b) {  // by the part of a piece
    return b.pitch == 0 || static_cast<double>(a.to - a.from) * static_cast<double>(b.pitch) <
                               static_cast<double>(b.to - b.from) * static_cast<double>(a.pitch);
  };
  for (int i = 0; i < ndim(); ++i) {
    const int64_t pitch = strides[i] < 0 ? -strides[i] : strides[i];
    if (shape[i] == 1 || pitch <= item) continue;
    Region::Band band = band_of(*this, item, pitch);
    if (band.pitch == 0 || band == found.bands[0]) continue;
    for (Region::Band& kept : found.bands)
      if (narrower(band, kept)) std::swap(band, kept);
  }
  return found;
}

Layout Layout::apart(int64_t& bytes) const {
  Layout to = *this;
  const auto item = static_cast<int64_t>(item_size(dtype));
  auto length = [](int64_t stride) { return stride < 0 ? -stride : stride; };
  int order[kMaxDims], n = 0;
  for (int i = 0; i < ndim(); ++i) {
    int at = n++;
    for (; at > 0 && length(strides[order[at - 1]]) > length(strides[i]); --at) order[at] = order[at - 1];
    order[at] = i;
  }
  int64_t next = item, end = item;  // the stride that continues without a gap, in this layout and in the copy
  to.offset = 0;
  for (int k = 0; k < n && size > 0; ++k) {
    const int axis = order[k];
    const int64_t stride = length(strides[axis]);
    if (stride == 0 || shape[axis] == 1) continue;
    const int64_t step = stride == next ? end : end + item;
    to.strides[axis] = strides[axis] < 0 ? -step : step;
    if (strides[axis] < 0) to.offset += (shape[axis] - 1) * step;
    next = stride * shape[axis], end = step * shape[axis];
  }
  bytes = end;
  return to;
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
      throw Error(ErrorKind::value,
                  std::string(op) + ": shapes must broadcast together, got " + to_string(a) + " and " + to_string(b));
    shape[n - i] = x == 1 ? y : x;
  }
  return shape;
}

Layout broadcast_to(const char* op, const Layout& a, const Dims& shape) {
  int extra = shape.size() - a.ndim();
  bool fits = extra >= 0;
  for (int i = 0; fits && i < a.ndim(); ++i) fits = a.shape[i] == shape[extra + i] || a.shape[i] == 1;
  if (!fits)
    throw Error(ErrorKind::value,
                std::string(op) + ": shape must broadcast to " + to_string(shape) + ", got " + to_string(a.shape));
  Layout seen;
  seen.dtype = a.dtype, seen.read_only = a.read_only;
  seen.shape = shape;
  seen.strides = Dims(shape.size());
  seen.offset = a.offset;
  seen.size = count_of(op, a.dtype, shape);
  for (int i = 0; i < a.ndim(); ++i) seen.strides[extra + i] = a.shape[i] == 1 ? 0 : a.strides[i];
  return seen;
}

}  // namespace forerun
