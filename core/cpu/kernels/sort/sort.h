// Order along one axis: the position of the largest or smallest element, sorting, and the positions that sort. Uses
// NumPy's own functions for each dtype, which take one contiguous line of elements.
#pragma once
#include "array/array.h"

namespace forerun {

// Position of an element of n; the functions of this kind need no array.
using ArgFunction = int (*)(void* values, intptr_t n, intptr_t* position, void*);
using SortFunction = int (*)(void* values, intptr_t n, void*);                          // in place
using ArgSortFunction = int (*)(void* values, intptr_t* positions, intptr_t n, void*);  // brings n positions into order

// out[...] = the position along `axis` of in; out is dense, int64, and of in's shape without the axis (in any shape of
// that size). `function` finds the largest element of a line, or the smallest, according to `largest`.
void build_arg(Op& op, const char* name, ArgFunction function, bool largest, const Array& in, int axis,
               const Array& out);
// out = in with the elements along `axis` in order; dense, of in's shape and dtype.
void build_sort(Op& op, SortFunction function, const Array& in, int axis, const Array& out);
// Whether argsort's function for a dtype must itself keep the order of equal elements. For other dtypes a faster one is
// used.
bool sorts_stably(DType t);
// out = the positions that sort in along `axis`; dense, int64, of in's shape. Equal elements keep their order, or have
// the one in which `function` leaves them.
enum class Equals : uint8_t { in_order, as_left };
void build_argsort(Op& op, ArgSortFunction function, Equals equals, const Array& in, int axis, const Array& out);

}  // namespace forerun
