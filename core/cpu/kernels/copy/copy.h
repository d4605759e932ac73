// Ops that move elements: copy and cast, gather, scatter, concatenate.
#pragma once
#include <vector>

#include "array/array.h"
#include "cpu/kernels/copy/combine.h"
#include "cpu/kernels/scalar.h"

namespace forerun {

// to[...] = from (broadcast to `to`'s shape, cast to its dtype). Also between logical CPU devices.
void build_copy(Op& op, const Array& from, const Array& to);
// The same without an operation, from and to the first elements. No element is read and written, except where both are
// dense, of one dtype and as many elements.
void copy_elements(const Layout& from, const char* values, const Layout& to, char* room);
// to[...] = scalar, given in to's dtype.
void build_fill(Op& op, const Scalar& scalar, const Array& to);
// to = the arrays side by side along `axis`; all of to's dtype.
void build_concatenate(Op& op, const std::vector<Array>& arrays, int axis, const Array& to);

// `indices`: k integer arrays (any integer dtype), broadcast to one shape `index_shape` by the caller (strides may be
// 0), but for those without axes: numbers, which are checked even if index_shape is empty, and overflow where others of
// uint64 would wrap. They index the consecutive axes axis..axis+k-1 of `from`. to.shape = from.shape[:axis] +
// index_shape + from.shape[axis+k:], same dtype. Negative indices count from the end. An index out of range throws
// Error(index, "take: index must be in [-n, n), got i") when it runs, before anything is written. op_name: what errors
// call it in place of "take", for ever.
void build_gather(Op& op, const Array& from, const std::vector<Array>& indices, int axis, const Array& to,
                  const char* op_name);

// to[..., indices, ...] = values, or combined with them, one by one. values: to's dtype, already
// broadcast to the gathered shape. Indices are checked before the first write.
// combine: what becomes of an element and its value; null: the value takes its place.
void build_scatter(Op& op, const Array& to, const std::vector<Array>& indices, int axis, const Array& values,
                   const Combine* combine);
// The same for the elements under a mask that covers the axes from `axis` on, in C order; the others stand as in what
// integers select. Error(value) naming `op_name` if there are not as many elements as values, before the first write.
void build_scatter_masked(Op& op, const Array& to, const Array& mask, int axis, const Array& values,
                          const Combine* combine, const char* op_name);
// Element index[i] of the flat `to` = values[i % n], of n values in a vector; at least one. index: a vector; `to` may
// lie in any way.
void build_put(Op& op, const Array& to, const Array& index, const Array& values, const char* op_name);

// The same with one index array of as many axes as the other arrays: it says where along `axis`, its positions say
// where along the rest. `to` and `values` have its shape; where the indexed array has extent 1, it is repeated.
// from_end: negative ones may be there; else they are out of range.
void build_gather_along(Op& op, const Array& from, const Array& index, int axis, const Array& to, const char* op_name,
                        bool from_end);
void build_scatter_along(Op& op, const Array& to, const Array& index, int axis, const Array& values,
                         const Combine* combine);

}  // namespace forerun
