// What the array type asks of the Python package, and of the other files of python/.
#pragma once
#include <span>

#include "python/object/array_type.h"

namespace forerun {

// Ufuncs behind Python's operators.
enum class Slot {
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  remainder,
  power,
  negative,
  positive,
  absolute,
  invert,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  left_shift,
  right_shift,
  less,
  less_equal,
  equal,
  not_equal,
  greater,
  greater_equal,
  square,
  sqrt,
  reciprocal,
  count
};
PyObject* call_slot(Slot slot, PyObject* const* inputs, Py_ssize_t n, PyObject* out);
PyObject* slot_op(Slot slot);  // borrowed; null: none is registered
void set_slot(const char* name, PyObject* ufunc);
std::span<const char* const> slot_names();

// Python functions that handle what is not done in C.
enum class Hook { getitem, setitem, matmul, fit, asarray, transpose, count };
PyObject* call_hook(Hook hook, PyObject* a, PyObject* b, PyObject* c);  // c may be null
void set_hook(const char* name, PyObject* function);
std::span<const char* const> hook_names();

// The view that a basic index (ints, slices, None, Ellipsis) selects. False: not a basic index. single: whether
// integers alone name one element.
bool basic_index(const Array& array, PyObject* index, Array* view, bool* single = nullptr);

PyObject* device_object(int device);  // a new reference
void set_devices(PyObject* list);

PyTypeObject* make_array_type();
void set_array_type(PyTypeObject* type);

}  // namespace forerun
