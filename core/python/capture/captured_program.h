// The type forerun._core.Program: ops that were recorded, and are issued again by a call.
#pragma once
#include <nanobind/nanobind.h>

#include <vector>

#include "python/object/node.h"

namespace forerun {

// A node of a recorded call has the program as its op, and what its gradients need as its attributes.
bool is_program(PyObject* op);
// The gradients of the node's inputs (null: none) from those of its outputs (null: none has arrived), as a program,
// which the first call records. False: there is none.
bool run_back(NodeObject* node, const std::vector<nanobind::object>& gradients, std::vector<nanobind::object>& back);
// Its ops on the tape again: the outputs.
nanobind::object unfolded(NodeObject* node);

}  // namespace forerun
