// Ops that read and write elements at indices.
#pragma once
#include <vector>

#include "array/array.h"
#include "cpu/kernels/copy/combine.h"

namespace forerun {

// `indices`: k integer arrays (any integer dtype), broadcast to one shape `index_shape` by the caller (strides may be
// 0), except those without axes: these are numbers, which are checked even if index_shape is empty, and which overflow
// where arrays of uint64 would wrap. They index the consecutive axes axis..axis+k-1 of `from`. to.shape =
// from.shape[:axis] + index_shape + from.shape[axis+k:], same dtype. Negative indices count from the end. An index out
// of range throws Error(index, "take: index must be in [-n, n), got i") when the op runs, before anything is written.
// op_name: the name in errors in place of "take"; never freed.
void build_gather(Op& op, const Array& from, const std::vector<Array>& indices, int axis, const Array& to,
                  const char* op_name);

// to[..., indices, ...] = values, or combined with them, one by one. values: to's dtype, already broadcast to the
// gathered shape. Indices are checked before the first write. combine: the function of an element and its value; null:
// the value replaces the element.
void build_scatter(Op& op, const Array& to, const std::vector<Array>& indices, int axis, const Array& values,
                   const Combine* combine);
// The same for the elements under a mask that covers the axes from `axis` on, in C order; the other axes are as for
// integer indices. Error(value) naming `op_name` if the number of elements differs from that of the values, before the
// first write.
void build_scatter_masked(Op& op, const Array& to, const Array& mask, int axis, const Array& values,
                          const Combine* combine, const char* op_name);
// Element index[i] of the flat `to` = values[i % n], for a vector of n >= 1 values. index: a vector; `to` may have any
// layout.
void build_put(Op& op, const Array& to, const Array& index, const Array& values, const char* op_name);

// The same with one index array of as many axes as the other arrays: its values are positions along `axis`, its
// positions those along the other axes. `to` and `values` have its shape; axes of the indexed array with extent 1 are
// repeated. from_end: negative indices count from the end; otherwise they are out of range.
void build_gather_along(Op& op, const Array& from, const Array& index, int axis, const Array& to, const char* op_name,
                        bool from_end);
void build_scatter_along(Op& op, const Array& to, const Array& index, int axis, const Array& values,
                         const Combine* combine);

}  // namespace forerun
