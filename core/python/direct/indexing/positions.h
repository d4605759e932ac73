// Elements at positions, and under masks, whose values are computed: read and written in the call.
#pragma once
#include <Python.h>

#include <cstdint>
#include <vector>

#include "array/array.h"
#include "cpu/kernels/copy/copy.h"

namespace forerun {

constexpr int64_t kMostSelected = 1 << 14;  // bools that are looked at in the call

// Elements of a vector at positions that are computed and in range; null without an exception set: an operation must do
// it.
PyObject* pick_at(const Array& x, const Array& index);
// The same, written or combined, each element with the next value. Values that are written start over if there are
// fewer; those that are combined are as many, or one. False: an operation must do it.
bool put_at(const Array& x, const Array& index, const Array& values, EachFunction each);
// The elements under a mask of the array's whole shape: how many there are, its values tell. Null: the Python function
// knows what to do.
PyObject* pick_selected(const Array& x, const Array& mask);
// The integers in a list as positions along an axis of n elements. No storage: it has others, or one is out of range.
Array listed_positions(PyObject* list, int64_t n, int device);
// The same of NumPy's vector or matrix of int64.
Array known_positions(PyObject* array, int64_t n, int device);
// Where a dense mask holds: the positions along each of its axes. None: it is too large to look at here, or its values
// are not there.
std::vector<Array> mask_positions(const Array& mask);

}  // namespace forerun
