// The Python array: a handle, and its place on the tape.
#pragma once
#include <Python.h>

#include <cstdint>

#include "array/array.h"

namespace forerun {

struct ArrayObject {
  PyObject_HEAD PyObject* weak;
  PyObject* node;  // owned; null: not on the tape. The object is tracked by the garbage collector only while it has a
                   // node.
  int device;
  bool tracked;   // by the garbage collector
  bool owner;     // a scalar with a storage of its own, which is reused
  bool shares;    // a scalar made in a storage of several scalars
  int64_t index;  // which output of the node
  Array array;    // no storage: an array whose value was not kept
};

extern PyTypeObject* array_base;             // _core.Array
extern PyTypeObject* array_type;             // the class of new arrays: a subclass of it
extern PyTypeObject* scalar_type;            // the class of scalars: a subclass of that (python/object/scalar.h)
extern PyTypeObject* scalar_types[kDTypes];  // the classes of scalars by dtype: that class, or a subclass of it

inline bool is_scalar(PyObject* o) { return Py_TYPE(o) == scalar_type || Py_TYPE(o)->tp_base == scalar_type; }
inline bool is_array(PyObject* o) {
  if (Py_TYPE(o) == array_type || is_scalar(o)) return true;
  return !PyLong_CheckExact(o) && !PyFloat_CheckExact(o) && PyObject_TypeCheck(o, array_base);
}
inline ArrayObject* as_array(PyObject* o) { return reinterpret_cast<ArrayObject*>(o); }
inline const Layout& layout_of(PyObject* array) { return as_array(array)->array.layout; }
// The array in `o`; TypeError naming `op` if it is not an array.
const Array& get_array(const char* op, PyObject* o);

PyObject* wrap(Array array);
// A scalar: one element of a storage. Null with an exception set.
PyObject* wrap_element(Buffer* storage, DType dtype, int64_t offset);
// A scalar with the value at `value`, in a storage of its own; made without an operation. Null with an exception set.
PyObject* scalar_at_once(DType dtype, MemoryBudget* budget, const void* value);
// The scalar True or False, made without an operation; for one budget always the same two objects.
PyObject* truth_at_once(bool value, MemoryBudget* budget);
void forget_truth(PyObject* scalar);  // called for a scalar that is about to become an array
// Returns the memory of cached objects to Python; kept_with_storage(): how many of them have a storage, if each scalar
// in use counts as one.
void trim_objects();
int64_t kept_with_storage();
void set_node(ArrayObject* array, PyObject* node, int64_t index);
// As slots of the type.
int visit_array(PyObject* self, visitproc visit, void* arg);
int clear_array(PyObject* self);
int is_collected(PyObject* self);
void free_array(PyObject* self);

// The result of an operation: a scalar if the array has no axes.
PyObject* wrap_result(Array array);

// Throws an Error if the array must not be written to.
[[noreturn]] void refuse_write(const char* op, const Array& array);
inline const Array& writable(const char* op, const Array& array) {
  if (!array.writable()) refuse_write(op, array);
  return array;
}

}  // namespace forerun
