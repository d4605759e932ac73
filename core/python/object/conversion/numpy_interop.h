// Conversion of values between NumPy's arrays and forerun's.
#pragma once
#include <Python.h>

#include <cstdint>

#include "array/array.h"
#include "python/numpy_api.h"
#include "python/object/array_object.h"

namespace forerun {

Dims shape_of(PyArrayObject* array);
Dims strides_of(PyArrayObject* array);
// Copies the elements to a new dense array of that shape, which gets their order of axes, as NumPy's copies do. False
// with an exception set: they cannot be converted.
bool copy_elements(PyArrayObject* from, Array& to);
// An array with a copy of a NumPy array's values (any object that numpy.asarray takes).
Array from_object(const char* op, PyObject* o, int device);
// A read-only NumPy array on the array's values, which no later op changes. Waits for them.
PyObject* to_numpy(const Array& array);
// The same for an array whose values are computed, and will not change before this returns.
PyObject* shared_view(const Array& array);
// A NumPy array on the array's memory: each of the two sees writes to the other. Waits for pending operations.
// From now on, calls that issue operations on the memory wait for them.
PyObject* numpy_alias(const Array& array);
// The array on whose memory such an array, or a view of one, is. Null: it is on other memory.
const Array* array_behind(PyArrayObject* view);
// Whether bytes that the program has written may be viewed as bools: from then on bools are checked before other
// libraries see them. Set once; with the interpreter lock.
extern bool bytes_as_bools;
// Sets every byte to 0 or 1; only_bools() says whether those of an array of bools are.
void make_bools(char* data, int64_t n);
bool only_bools(const Layout& layout, const char* data);
// A NumPy array on memory that an op may use while it runs.
PyObject* numpy_view(const Layout& layout, char* data, bool writable, PyObject* base);

}  // namespace forerun
