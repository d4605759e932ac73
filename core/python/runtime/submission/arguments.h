// Arguments of ops, read and checked.
#pragma once
#include <Python.h>

#include <cstdint>

#include "base/dtype.h"
#include "base/shape.h"

namespace forerun {

Dims parse_dims(const char* op, PyObject* o);  // an int or a sequence of ints
int normal_axis(const char* op, int64_t axis, int ndim);
// Checks the dtype: convolutions and recurrent layers have kernels for two dtypes.
void check_has_kernels(const char* op, DType t);

}  // namespace forerun
