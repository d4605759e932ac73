// Ops that move elements: copy and cast, fill, concatenate.
#pragma once
#include <vector>

#include "array/array.h"
#include "cpu/kernels/scalar.h"

namespace forerun {

// to[...] = from (broadcast to `to`'s shape, cast to its dtype). Also between logical CPU devices.
void build_copy(Op& op, const Array& from, const Array& to);
// The same without an operation, from and to the first elements. No element is both read and written, unless both are
// dense, of one dtype and size.
void copy_elements(const Layout& from, const char* values, const Layout& to, char* room);
// to[...] = scalar, given in to's dtype.
void build_fill(Op& op, const Scalar& scalar, const Array& to);
// to = the arrays concatenated along `axis`; all of to's dtype.
void build_concatenate(Op& op, const std::vector<Array>& arrays, int axis, const Array& to);

}  // namespace forerun
