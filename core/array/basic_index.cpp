#include "array/basic_index.h"

#include <string>

#include "base/error.h"

namespace forerun {

BasicIndex::BasicIndex(const Layout& from, int used, int ellipses)
    : from_(from), rest_(from.ndim() - used), has_ellipsis_(ellipses > 0) {
  if (ellipses > 1)
    throw Error(ErrorKind::index, "getitem: an index must have at most one Ellipsis, got " + std::to_string(ellipses));
  if (used > from.ndim())
    throw Error(ErrorKind::index, "getitem: an index must have at most " + std::to_string(from.ndim()) +
                                      " entries for shape " + to_string(from.shape) + ", got " + std::to_string(used));
  to_.dtype = from.dtype;
  to_.offset = from.offset, to_.read_only = from.read_only;
}

void BasicIndex::keep(int64_t extent, int64_t stride) {
  if (n_ == kMaxDims) throw Error(ErrorKind::index, "getitem: arrays must have at most 64 dimensions");
  shape_[n_] = extent, strides_[n_++] = stride;
}

void BasicIndex::keep_next() {
  keep(from_.shape[axis_], from_.strides[axis_]);
  ++axis_;
}

void BasicIndex::integer(int64_t i) {
  const int64_t n = extent();
  if (i < -n || i >= n)
    throw Error(ErrorKind::index, "getitem: index must be in [" + std::to_string(-n) + ", " + std::to_string(n) +
                                      "), got " + std::to_string(i));
  to_.offset += (i < 0 ? i + n : i) * from_.strides[axis_++];
}

void BasicIndex::slice(int64_t start, int64_t stop, int64_t step) {
  const int64_t n = extent(), stride = from_.strides[axis_++], first = step < 0 ? -1 : 0, last = step < 0 ? n - 1 : n;
  auto within = [&](int64_t at) { return at < 0 ? (at + n < 0 ? first : at + n) : at >= n ? last : at; };
  start = within(start), stop = within(stop);
  int64_t count = 0;
  if (step < 0 && stop < start) count = (start - stop - 1) / -step + 1;
  if (step > 0 && start < stop) count = (stop - start - 1) / step + 1;
  if (count > 0) to_.offset += start * stride;
  keep(count, stride * step);
}

void BasicIndex::ellipsis() {
  for (int i = 0; i < rest_; ++i) keep_next();
}

Layout BasicIndex::selected() {
  while (axis_ < from_.ndim()) keep_next();
  to_.shape = Dims(shape_, n_);
  to_.strides = Dims(strides_, n_);
  to_.size = product(to_.shape);
  return std::move(to_);
}

}  // namespace forerun
