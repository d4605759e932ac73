// C++ errors and the failures of ops as Python exceptions.
#pragma once
#include <Python.h>

#include <cstdint>
#include <new>
#include <vector>

#include "array/array.h"

namespace forerun {

// Thrown by C++ code when a Python exception is set already.
struct PythonError {};

// The exception of ErrorKind::rank_failed.
void set_rank_failed(PyObject* type);
void set_python_error(const Error& error);
void set_python_error(const Failure& failure);
// Raises the failures: one failure directly, several as a group, with a note on `more` that were not kept.
void raise_failures(const std::vector<FailurePtr>& failures, uint64_t more = 0);
// Raises if the array, whose values are computed, is poisoned.
void check_failure(const Array& array);

// Runs `body`, and turns the errors that it throws into Python exceptions.
template <class F>
PyObject* guarded(F body) {
  try {
    return body();
  } catch (const PythonError&) {
  } catch (const Error& error) {
    set_python_error(error);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

}  // namespace forerun
