// Matrix products.
#pragma once

#include "array/array.h"

namespace forerun {

// a @ b of one dtype and device whose shapes fit: vectors, matrices and stacks of matrices. The op is issued.
Array product_of(const Array& a, const Array& b);

}  // namespace forerun
