// The order of axes in memory, which results have from their operands (NumPy's order="K").
#pragma once
#include "array/layout.h"

namespace forerun {

// The order in which a loop over operands, which broadcast to a shape, should traverse the axes of the shape: the one
// in memory, from the axis with the longest steps, or C order where operands differ.
class AxisOrder {
 public:
  AxisOrder(int axes, const Layout* const* operands, int n);
  explicit AxisOrder(const Layout& layout) {
    const Layout* operand = &layout;
    *this = AxisOrder(layout.ndim(), &operand, 1);
  }
  bool is_c() const;
  int place(int axis) const;  // of an axis, from the outermost one
  // A layout without gaps whose axes are in this order.
  Layout dense(DType dtype, const Dims& shape) const;
  // The same elements with the axes in this order, and back.
  Layout transposed(const Layout& layout) const;
  Layout restored(const Layout& transposed) const;

 private:
  int n_, order_[kMaxDims];
};

}  // namespace forerun
