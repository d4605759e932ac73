// NumPy's dtypes and forerun's.
#pragma once
#include <Python.h>

#include "base/dtype.h"

namespace forerun {

extern DType default_float;
extern bool numpy_rules;  // the front end replaces NumPy: operands of foreign classes are rejected, small integers give
                          // small floats

inline constexpr const char kSupportedDTypes[] = "bool, integer, float16/32/64, bfloat16 or complex64/128";

int typenum_of(DType t);                        // NumPy's number
PyObject* dtype_object(DType t);                // borrowed: a numpy.dtype
PyObject* scalar_class(DType t);                // borrowed: the class of NumPy's scalars of the dtype
bool dtype_of_class(PyObject* type, DType* t);  // the inverse, except for bfloat16; false: it is another class
PyObject* bfloat16();                           // borrowed: its numpy.dtype; ImportError without ml_dtypes
DType parse_dtype(const char* op, PyObject* dtype);
DType dtype_of_typenum(int typenum, bool* known = nullptr);

}  // namespace forerun
