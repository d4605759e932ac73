// Convolutions with kernels of 3 x 3 by Winograd's minimal filtering, F(2 x 2, 3 x 3).
#pragma once
#include "cpu/kernels/conv/conv.h"

namespace forerun {

// Whether it computes the same as the direct convolution, and faster: float32, strides of 1, enough channels and
// windows. back: the gradient of the data.
bool winograd_takes(const Correlation& what, DType dtype, bool back);

// First the weight at the points where products are made, dense and of this size; then as build_conv or
// build_conv_back. The error of each result is relative to the largest elements near its window (2 x 2 results share 4
// x 4 elements), not only to those in it.
int64_t winograd_points(const Correlation& what, bool back);
void build_winograd_points(Op& op, const Correlation& what, bool back, const Array& w, const Array& points);
void build_winograd(Op& op, const Correlation& what, bool back, const Array& source, const Array& w,
                    const Array& points, const Array& target);

}  // namespace forerun
