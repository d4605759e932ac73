// The type forerun._core.Program: ops that were recorded, and are issued again by a call.
#pragma once
#include <nanobind/nanobind.h>

#include <vector>

#include "python/object/node.h"

namespace forerun {

// Whether the op of a node is a program: the node of a recorded call has the program as its op, and the values for its
// gradients as attributes.
bool is_program(PyObject* op);
// The gradients of the node's inputs (null: no gradient) from those of its outputs (null: not arrived), as a program,
// which the first call records. False: there is no program.
bool run_back(NodeObject* node, const std::vector<nanobind::object>& gradients, std::vector<nanobind::object>& back);
// Puts its ops onto the tape again; returns the outputs.
nanobind::object unfolded(NodeObject* node);

}  // namespace forerun
