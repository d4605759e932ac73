// Functions of other libraries that are adapted to arguments of forerun: arrays, scalars and functions, also in lists,
// tuples, dicts and slices.
#include <algorithm>

#include "python/bindings.h"
#include "python/direct/function_type.h"
#include "python/dispatch/fallback.h"
#include "python/object/array_object.h"
#include "python/object/plain.h"
#include "python/runtime/errors/errors.h"

namespace forerun {

namespace {

constexpr int kDepth = 3;  // of nested containers

// Whether an argument is, or holds, an array or a function of forerun.
bool needs_conversion(PyObject* o, int depth);

// Whether it is a function that may return forerun's values, or one of forerun's; not a class, and not a C function.
bool may_return_arrays(PyObject* o) { return PyCallable_Check(o) && !PyType_Check(o) && !PyCFunction_Check(o); }

bool any_needs_conversion(PyObject* const* items, Py_ssize_t n, int depth) {
  return std::any_of(items, items + n, [depth](PyObject* o) { return needs_conversion(o, depth); });
}

bool needs_conversion(PyObject* o, int depth) {
  if (is_array(o) || may_return_arrays(o)) return true;
  if (depth == 0) return false;
  if (is_list(o)) return any_needs_conversion(PySequence_Fast_ITEMS(o), PySequence_Fast_GET_SIZE(o), depth - 1);
  if (PySlice_Check(o)) {
    auto* slice = reinterpret_cast<PySliceObject*>(o);
    PyObject* const ends[] = {slice->start, slice->stop, slice->step};
    return any_needs_conversion(ends, 3, 0);
  }
  if (!PyDict_Check(o)) return false;
  PyObject *key, *value;
  for (Py_ssize_t at = 0; PyDict_Next(o, &at, &key, &value);)
    if (needs_conversion(key, 0) || needs_conversion(value, depth - 1)) return true;
  return false;
}

// The function is constructed with another one, which is called with the arguments as a tuple and a dict if one of them
// is forerun's, or is a function. Null without an exception set: no argument is.
PyObject* adapted(const DirectCall& call) {
  const Py_ssize_t named = call.kwnames ? PyTuple_GET_SIZE(call.kwnames) : 0;
  if (!any_needs_conversion(call.args, call.n + named, kDepth)) return nullptr;
  const nb::object args = nb::steal(positional_arguments(call.args, call.n));
  const nb::object kwargs = nb::steal(named_arguments(call.args, call.n, call.kwnames));
  if (!args || !kwargs) throw PythonError{};
  PyObject* result = PyObject_CallFunctionObjArgs(PyTuple_GET_ITEM(call.data, 0), args.ptr(), kwargs.ptr(), nullptr);
  return result ? result : throw PythonError{};
}

}  // namespace

void add_direct_adapted() { add_direct("adapted", adapted); }

}  // namespace forerun
