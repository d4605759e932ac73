// Transfer of memory from NumPy's arrays, without a copy.
#pragma once
#include <Python.h>

#include "array/array.h"
#include "engine/devices/memory_budget.h"

namespace forerun {

// The memory of a large dense NumPy array of dtype t, which has `refs` references if it is not used elsewhere. Null:
// the array's elements must be copied. With the interpreter lock.
Block* block_of(PyObject* array, Py_ssize_t refs, DType t, MemoryBudget* budget);
// An array on that memory; no storage: the elements must be copied.
Array taken_from(PyObject* array, Py_ssize_t refs, DType t, int device);
// An array on the memory of a large NumPy array, which it keeps alive and does not write to; no storage: it must be
// copied. The program may write to the memory: only for operations that end before the program continues.
Array lent_by_numpy(PyObject* array, int device);
// An array on the memory of a NumPy array, which it keeps alive: each of the two sees writes to the other, and calls
// that issue operations on the memory wait for them. No storage: forerun's arrays cannot be on that memory.
Array shared_with_numpy(PyObject* array, int device);
// An array with the values of a NumPy array that has no other references, now or later.
Array taken(PyObject* array, int device);

}  // namespace forerun
