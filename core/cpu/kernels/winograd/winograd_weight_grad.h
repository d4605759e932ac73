// Gradients of the weights of convolutions by Winograd's minimal filtering.
#pragma once
#include "cpu/kernels/conv/conv.h"

namespace forerun {

// As build_conv_weight, for convolutions that winograd_takes() (back: false).
int64_t winograd_parts(const Correlation& what);
void build_winograd_weight(Op& op, const Correlation& what, const Array& y, const Array& x, const Array& sums);

}  // namespace forerun
