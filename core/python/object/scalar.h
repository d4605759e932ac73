// Scalars: arrays without axes that are values, as NumPy's scalars are. Nobody writes into the storage of one.
#pragma once
#include "python/object/array_type.h"

namespace forerun {

enum class Slot;

void set_scalar_type(PyTypeObject* type);

inline bool is_scalar(PyObject* o) { return Py_TYPE(o) == scalar_type; }

// What an operation has computed: a scalar if it has no axes.
PyObject* wrap_result(Array array);
// An array with the values of `like`, in that storage or another: a scalar if `like` is one.
PyObject* wrap_like(PyObject* like, Array array);
// The same object as a scalar, or as an array that is not one. Nobody else may know its storage.
void become(PyObject* array, bool scalar);

// Sums, products and comparisons of two numbers, of which one at least is a scalar whose value is there; null without
// an exception: an operation must do it.
PyObject* calculated_at_once(Slot slot, PyObject* a, PyObject* b);

// x[index] for a basic index: a view, or a scalar with a copy of the element where each axis is indexed by an integer.
// Null without an exception: not a basic index.
PyObject* read_basic(PyObject* self, PyObject* index);
// A scalar with a copy of the element at an offset: made at once where its value is there, else by an operation.
PyObject* element(const Array& array, int64_t offset);
// x[i], x[index] = value, as the array type's slots.
PyObject* get_item(PyObject* self, PyObject* index);
// Whether integers, whose values are there, name an element of an array, and where it stands.
bool names_element(PyObject* array, PyObject* index, int64_t* offset);
PyObject* sequence_item(PyObject* self, Py_ssize_t i);
int set_item(PyObject* self, PyObject* index, PyObject* value);

// What a view with axes is made of: the array itself, or for a scalar, a copy in `own`, so that writing to the view
// leaves the scalar as it is.
const Array& viewed(const char* op, PyObject* o, Array& own);
// The array in `o`, which is to be written to; Error if it must not be.
const Array& get_writable(const char* op, PyObject* o);

}  // namespace forerun
