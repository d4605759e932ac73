// NumPy's arrays as operands that operations read in place, without a copy.
//
// The program may write to such an array as soon as the call returns, so the call waits until its operations have
// ended. That pays off where they take no longer than the copy would: in reductions, and in products with a few
// vectors.
//
// Results must not depend on whether an array is lent or copied: the copy is dense, in C or Fortran order. Reductions
// sum elements in an order that depends on the layout, so only dense arrays are lent to them; products read rows or
// columns of any distance alike.
#pragma once
#include <Python.h>

#include "python/bindings.h"

namespace forerun {

enum class Reader { reduction, product };

// An array on the memory of NumPy's array, which it keeps alive. Null without an exception set: it must be copied,
// because it is small, of a dtype that forerun lacks, or of a layout with which results would have other bits; because
// operations are captured, or a wait is not allowed here; or because other operations are pending, behind which the
// wait could take long.
nb::object lent_by(PyObject* numpy, Reader reader);
// The result of the operations on a lent array, after a wait for their end. Null is passed through.
PyObject* when_ended(PyObject* result);

}  // namespace forerun
