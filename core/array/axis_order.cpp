#include "array/axis_order.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace forerun {

namespace {

// Whether an axis belongs inside another one, by the steps of the operands. None: they do not tell.
std::optional<bool> is_inside(const Layout* const* operands, int n, int axes, int axis, int other) {
  auto step = [axes](const Layout& layout, int a) {
    const int own = a - (axes - layout.ndim());
    return own < 0 || layout.shape[own] == 1 ? 0 : std::abs(layout.strides[own]);
  };
  std::optional<bool> inside;
  for (int i = 0; i < n; ++i) {
    const int64_t mine = step(*operands[i], axis), its = step(*operands[i], other);
    if (mine == 0 || its == 0) continue;
    if (mine >= its) return false;
    inside = true;
  }
  return inside;
}

}  // namespace

AxisOrder::AxisOrder(int axes, const Layout* const* operands, int n) : n_(axes) {
  for (int axis = axes - 1; axis >= 0; --axis) {
    // Those after it are in order. It goes behind the last one that it belongs inside of, up to the first one that
    // belongs inside of it.
    const int first = axis + 1;
    int after = first;
    for (int k = first; k < axes; ++k) {
      const std::optional<bool> inside = is_inside(operands, n, axes, axis, order_[k]);
      if (inside && !*inside) break;
      if (inside) after = k + 1;
    }
    std::copy(order_ + first, order_ + after, order_ + axis);
    order_[after - 1] = axis;
  }
}

bool AxisOrder::is_c() const { return std::is_sorted(order_, order_ + n_); }

int AxisOrder::place(int axis) const { return static_cast<int>(std::find(order_, order_ + n_, axis) - order_); }

Layout AxisOrder::dense(DType dtype, const Dims& shape) const {
  Dims extents(n_);
  for (int k = 0; k < n_; ++k) extents[k] = shape[order_[k]];
  return restored(Layout::dense(dtype, extents));
}

Layout AxisOrder::transposed(const Layout& layout) const {
  Layout made = layout;
  for (int k = 0; k < n_; ++k) made.shape[k] = layout.shape[order_[k]], made.strides[k] = layout.strides[order_[k]];
  return made;
}

Layout AxisOrder::restored(const Layout& transposed) const {
  Layout made = transposed;
  for (int k = 0; k < n_; ++k)
    made.shape[order_[k]] = transposed.shape[k], made.strides[order_[k]] = transposed.strides[k];
  return made;
}

}  // namespace forerun
