// Arrays of the numbers in lists.
#pragma once
#include <Python.h>

#include "python/bindings.h"
#include "python/object/plain.h"

namespace forerun {

// The array that asarray() makes of a list of numbers, of scalars, or of arrays. Null without an exception set: not
// plain.
PyObject* array_of_list(PyObject* list);

// The same of a list; anything else as it is, and null where a list is not plain.
inline nb::object array_or_list(PyObject* o) { return is_list(o) ? nb::steal(array_of_list(o)) : nb::borrow(o); }

}  // namespace forerun
