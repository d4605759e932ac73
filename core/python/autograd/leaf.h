// The leaves of the tape, where gradients arrive.
#pragma once
#include <Python.h>

#include <cstdint>

namespace forerun {

// A leaf: its gradient, and what is done with a new one.
struct LeafObject {
  PyObject_HEAD enum class Request : uint8_t { write, add, null } request;
  uint32_t received;  // parts of gradients so far
  PyObject* grad;     // an array, or None
};
inline LeafObject* as_leaf(PyObject* o) { return reinterpret_cast<LeafObject*>(o); }
extern PyTypeObject* leaf_type;
PyTypeObject* make_leaf_type();

// Takes in a part of a gradient, the first of a walk or a later one; in place: who holds the gradient array sees the
// new values. Steals the reference to `g`. False with an exception set.
bool receive_gradient(LeafObject* leaf, PyObject* g, bool first);

}  // namespace forerun
