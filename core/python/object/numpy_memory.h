// Memory of NumPy's arrays that becomes ours, without a copy.
#pragma once
#include <Python.h>

#include "array/array.h"
#include "engine/graph/memory_budget.h"

namespace forerun {

// The memory of a large dense NumPy array of dtype t, to which there are `refs` references if nobody else has it. Null:
// it is another array, whose elements must be copied. With the interpreter lock.
Block* block_of(PyObject* array, Py_ssize_t refs, DType t, MemoryBudget* budget);
// An array on that memory; no storage: there is none.
Array taken_from(PyObject* array, Py_ssize_t refs, DType t, int device);
// An array with the values of a NumPy array that nobody else has, nor will have.
Array taken(PyObject* array, int device);

}  // namespace forerun
