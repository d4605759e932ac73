// Gradients of the weights of convolutions.
#pragma once
#include "cpu/kernels/conv/conv.h"

namespace forerun {

// Sums of y times the windows of x, the gradient of the weight: sums (parts, groups * out, in, *kernel), to be summed
// over the first axis. The number of parts depends on the shapes and the dtype.
int64_t conv_weight_parts(const Correlation& what, DType dtype);
void build_conv_weight(Op& op, const Correlation& what, const Array& y, const Array& x, const Array& sums);

}  // namespace forerun
