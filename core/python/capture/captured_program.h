// Recording what this thread issues.
#pragma once
#include <nanobind/nanobind.h>

#include "kernels/program.h"
#include "python/object/array_type.h"

namespace forerun {

extern constinit thread_local Recording* capture;  // null: nothing is recorded

// Values are about to be looked at: if the thread records, there will be no program, or it raises (Recording::strict).
void note_look(const char* how);
// An array with values that this thread has just made without an op; recorded, they are copied anew in each run.
Array with_values(Array made);

// A node of a recorded call has the program as its op, and what its gradients need as its attributes.
struct NodeObject;
bool is_program(PyObject* op);
// The gradients of the node's inputs (null: none) from those of its outputs (null: none has arrived), as a program,
// which the first call records. False: there is none.
bool run_back(NodeObject* node, const std::vector<nanobind::object>& gradients, std::vector<nanobind::object>& back);
// Its ops on the tape again: the outputs.
nanobind::object unfolded(NodeObject* node);

// The key of the next random numbers, of which `count` are drawn.
struct Key {
  uint64_t seed, number;
};
Key draw_numbers(uint64_t count);

}  // namespace forerun
