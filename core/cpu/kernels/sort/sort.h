// Order along one axis: where the largest or smallest element is, sorting, and the positions that sort. By NumPy's own
// functions for each dtype, which take one line of elements that follow one another.
#pragma once
#include "array/array.h"

namespace forerun {

// Position of an element of n; the functions of this kind need no array.
using ArgFunction = int (*)(void* values, intptr_t n, intptr_t* position, void*);
using SortFunction = int (*)(void* values, intptr_t n, void*);                          // in place
using ArgSortFunction = int (*)(void* values, intptr_t* positions, intptr_t n, void*);  // brings n positions into order

// out[...] = the position along `axis` of in; out is dense, int64, and of in's shape without the axis (in any shape of
// that size). `function` finds the largest or the smallest of a line, as `largest` says.
void build_arg(Op& op, const char* name, ArgFunction function, bool largest, const Array& in, int axis,
               const Array& out);
// out = in with the elements along `axis` in order; dense, of in's shape and dtype.
void build_sort(Op& op, SortFunction function, const Array& in, int axis, const Array& out);
// Whether argsort's function for a dtype is to keep the order of equal elements itself. For the others a faster one is
// taken.
bool sorts_stably(DType t);
// out = the positions that sort in along `axis`; dense, int64, of in's shape. Equal elements are in their order, or in
// that in which `function` leaves them.
enum class Equals : uint8_t { in_order, as_left };
void build_argsort(Op& op, ArgSortFunction function, Equals equals, const Array& in, int axis, const Array& out);

}  // namespace forerun
