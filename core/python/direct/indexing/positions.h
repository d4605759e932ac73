// Elements at positions and under masks, with computed values: read and written during the call.
#pragma once
#include <Python.h>

#include <cstdint>
#include <vector>

#include "array/array.h"
#include "cpu/kernels/copy/combine.h"

namespace forerun {

constexpr int64_t kMostSelected = 1 << 14;  // bools that are examined during the call,
constexpr int64_t kMostCounted = 1 << 17;   // and those that are counted, since few may be true

// Elements of a vector at positions that are computed and in range; null without an exception set: an operation must do
// it.
PyObject* pick_at(const Array& x, const Array& index);
// The same, written or combined, each element with the next value. Values to write are repeated if there are fewer;
// values to combine are as many as positions, or a single one. False: an operation must do it.
bool put_at(const Array& x, const Array& index, const Array& values, EachFunction each);
// The elements under a mask of the array's whole shape; the values of the mask determine their number. Null: the Python
// function must handle it.
PyObject* pick_selected(const Array& x, const Array& mask);
// The integers in a list as positions along an axis of n elements. No storage: the list has other objects, or one is
// out of range.
Array listed_positions(PyObject* list, int64_t n, int device);
// The same of NumPy's vector or matrix of int64.
Array known_positions(PyObject* array, int64_t n, int device);
// The positions of the true elements of a dense mask, along each of its axes. Empty: the mask is too large to examine
// here, or its values are not computed.
std::vector<Array> mask_positions(const Array& mask);

}  // namespace forerun
