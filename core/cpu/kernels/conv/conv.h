// Convolutions of float32 and float64: sums of products over windows, without writing the windows out.
#pragma once
#include "array/array.h"

namespace forerun {

// The geometry of a convolution. Three axes of extents; with fewer axes the first extents are 1. `in` and `out` are
// channels of a group.
struct Correlation {
  int64_t examples = 0, groups = 1, in = 0, out = 0;
  int64_t extents[3] = {1, 1, 1};  // of the data, without padding
  int64_t kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, dilate[3] = {1, 1, 1}, pad[3] = {0, 0, 0};
  int64_t counts[3] = {1, 1, 1};  // of windows: the extents of the result; 1 at least

  int64_t elements() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t windows() const { return counts[0] * counts[1] * counts[2]; }
  double flops() const {
    return 2.0 * static_cast<double>(examples * groups * in) * static_cast<double>(out * elements()) *
           static_cast<double>(windows());
  }
};

// Data x (examples, groups * in, *extents), weight w (groups * out, in, *kernel), result y (examples, groups * out,
// *counts), of one to three axes of extents. The result must be dense.
void build_conv(Op& op, const Correlation& what, const Array& x, const Array& w, const Array& y);
// x[i] = sum over the windows of y that contain x[i]: the gradient of the data, or the transposed convolution.
void build_conv_back(Op& op, const Correlation& what, const Array& y, const Array& w, const Array& x);

}  // namespace forerun
