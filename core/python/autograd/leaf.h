// The leaves of the tape, where gradients arrive.
#pragma once
#include <Python.h>

#include <cstdint>

namespace forerun {

// A leaf: its gradient, and how new gradients are combined with it.
struct LeafObject {
  PyObject_HEAD enum class Request : uint8_t { write, add, null } request;
  uint32_t received;  // parts of gradients received so far
  PyObject* grad;     // an array, or None
};
inline LeafObject* as_leaf(PyObject* o) { return reinterpret_cast<LeafObject*>(o); }
extern PyTypeObject* leaf_type;
PyTypeObject* make_leaf_type();

// Accumulates a gradient into the leaf in place; `first`: the first contribution of this backward pass. Steals the
// reference to `g`. False with an exception set.
bool receive_gradient(LeafObject* leaf, PyObject* g, bool first);

}  // namespace forerun
