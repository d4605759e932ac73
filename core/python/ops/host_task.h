// Host tasks: Python callables that workers run under the interpreter lock.
#pragma once
#include <Python.h>

#include <cstdint>
#include <vector>

#include "array/array.h"
#include "engine/operations/op.h"

namespace forerun {

enum class HostTask {
  any,
  trusted,  // known not to write to its inputs, which need not be marked as read-only (NumPy copies read-only arrays
            // for some functions)
  fills,    // trusted; it gets the outputs' memory, after the inputs, as memoryviews of bytes; it only fills them, and
            // so need not run if nothing reads them
};

// How a task is cut: into calls, each with one of about equal parts of every operand along an axis. An idle thread
// takes the next call; the cuts depend on the shapes alone. Every operand has that axis, with the same
// extent, at least `pieces`.
struct Cut {
  int64_t pieces = 1;
  int axis = 0;
};

// Fills `op`: fn(*inputs as read-only numpy arrays) must return values for the outputs. With the interpreter lock.
void build_host(Op& op, const char* name, PyObject* fn, const std::vector<Array>& inputs,
                const std::vector<Array>& outputs, HostTask kind, Cut cut = {});

}  // namespace forerun
