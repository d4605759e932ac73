// The tape: which op made an array from which inputs, as far as gradients need it.
#pragma once
#include "bind/array.h"

namespace forerun {

extern thread_local bool recording, training;

// Whether an op on this array would go onto the tape now.
inline bool on_tape(PyObject* o) { return recording && is_array(o) && as_array(o)->node; }

// Makes a node of `op` (whose gradients are its own matter) and ties the outputs to it. `save`: bit i: the value of input i
// is needed; bit 7: the values of the outputs. What is not needed is kept as an array without value. False with an exception set.
bool record(PyObject* op, PyObject* const* inputs, Py_ssize_t n_in, PyObject* const* outputs, Py_ssize_t n_out, PyObject* attrs, unsigned save);

unsigned long long tape_position();  // number of the newest node

// Takes note that the node of `output` needs the values of `saved`, a tuple of arrays, as they are now.
void watch_saved(PyObject* output, PyObject* saved);

PyTypeObject* make_node_type();

}  // namespace forerun
