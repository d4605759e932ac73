// Basic indexing: integers, slices, new axes and one ellipsis select a view.
#pragma once
#include "array/layout.h"

namespace forerun {

// Takes the entries of an index one by one; each applies to the next axes.
class BasicIndex {
 public:
  // used: how many entries apply to one axis each. Error if there are more of them than axes, or several ellipses.
  BasicIndex(const Layout& from, int used, int ellipses);

  int64_t extent() const { return from_.shape[axis_]; }   // of the next axis
  void integer(int64_t i);                                // Error if it is out of range
  void slice(int64_t start, int64_t stop, int64_t step);  // as Python has them: negative ones count from the end
  void new_axis() { keep(1, 0); }
  void ellipsis();

  // After all entries: the view that they select, with the remaining axes.
  Layout selected();
  // Whether the index consists of integers that select one element.
  bool single() const { return n_ == 0 && !has_ellipsis_; }

 private:
  void keep(int64_t extent, int64_t stride);
  void keep_next();

  const Layout& from_;
  Layout to_;
  const int rest_;  // how many axes an ellipsis stands for
  const bool has_ellipsis_;
  int axis_ = 0, n_ = 0;
  int64_t shape_[kMaxDims], strides_[kMaxDims];
};

}  // namespace forerun
