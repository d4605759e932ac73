// The type forerun._core.Array, composed of slots from the other files of this folder.
#pragma once
#include <Python.h>

#include "base/dtype.h"

namespace forerun {

PyTypeObject* make_array_type();
// Sets the class of new arrays, and of scalars.
void set_array_type(PyTypeObject* type);
void set_scalar_type(PyTypeObject* type);
// Sets the class of scalars of a dtype: that one, or a subclass of it.
void set_scalar_type_of(DType dtype, PyTypeObject* type);

}  // namespace forerun
