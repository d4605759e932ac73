// Public functions whose plain calls the core handles itself: it reads the arguments, and runs or issues the operation,
// without a Python frame. All other calls go to the Python function, which has the docstring, the gradient and the
// errors.
#pragma once
#include <Python.h>

#include <cstddef>

#include "array/array.h"
#include "cpu/kernels/copy/copy.h"
#include "python/bindings.h"
#include "python/object/array_object.h"
#include "python/object/node.h"
#include "python/object/plain.h"

namespace forerun {

// A call: `n` positional arguments, then those named in `kwnames` (a tuple, or null). `data`: the data with which the
// function was constructed.
struct DirectCall {
  PyObject* const* args;
  Py_ssize_t n;
  PyObject* kwnames;
  PyObject* data;

  // The arguments in the order of `names`, null for those not given. False: others were given.
  template <size_t count>
  bool arrange(const char* const (&names)[count], PyObject* (&values)[count]) const {
    return arrange(names, values, count);
  }

 private:
  bool arrange(const char* const* names, PyObject** values, size_t count) const;
};

// A new reference; null without an exception set: the call is not plain, and nothing has changed.
using DirectEntry = PyObject* (*)(const DirectCall&);
// Whether the entry is tried with an array in place of a first argument that is a list of numbers, or NumPy's array: a
// copy of it, or an array that reads NumPy's memory in place.
enum class Lists { as_they_are, as_arrays, read_in_place };
void add_direct(const char* name, DirectEntry entry, Lists lists = Lists::as_they_are);

PyTypeObject* make_function_type();

}  // namespace forerun
