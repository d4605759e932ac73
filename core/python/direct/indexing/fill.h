// Writing numbers and arrays into views.
#pragma once
#include <Python.h>

#include "array/array.h"

namespace forerun {

// Sets all elements to the value, a number.
void fill_view(const Array& to, PyObject* value);
// Broadcasts the values to a shape; surplus leading axes of extent 1 are dropped. False: they do not broadcast.
bool fit_layout(Layout& values, const Dims& shape);
// Copies the elements of another array, which broadcasts to `to`. False: an operation must do it.
bool copy_into(const Array& to, const Array& from);

}  // namespace forerun
