// The type forerun._core.Array, put together of slots from the files beside this one.
#pragma once
#include <Python.h>

#include "base/dtype.h"

namespace forerun {

PyTypeObject* make_array_type();
// The subclasses that new arrays and scalars are.
void set_array_type(PyTypeObject* type);
void set_scalar_type(PyTypeObject* type);
// The class of scalars of a dtype: that one, or a subclass of it.
void set_scalar_type_of(DType dtype, PyTypeObject* type);

}  // namespace forerun
