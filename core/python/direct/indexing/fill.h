// Writing numbers and arrays into views.
#pragma once
#include <Python.h>

#include "array/array.h"

namespace forerun {

// All elements become the value, a number.
void fill_view(const Array& to, PyObject* value);
// The values as they broadcast to a shape; leading axes of extent 1 too many are left out. False: they do not.
bool fit_layout(Layout& values, const Dims& shape);
// The elements become those of another array, which broadcasts to them. False: an operation must do it.
bool copy_into(const Array& to, const Array& from);

}  // namespace forerun
