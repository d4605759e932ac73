// Host tasks: Python callables that workers run under the interpreter lock.
#pragma once
#include <Python.h>

#include <cstdint>
#include <vector>

#include "array/array.h"
#include "engine/graph/op.h"

namespace forerun {

enum class HostTask {
  any,
  trusted,  // is known not to write to its inputs, which need not be marked as read-only (NumPy copies such for some
            // functions)
  fills,    // trusted; it is given the outputs' memory, after the inputs, as memoryviews of bytes; it does nothing else
            // than to fill them, and so need not run if nobody reads them
};

// How a task is cut: into calls, each with one of about equal parts of every operand along an axis. Whoever is idle
// takes the next call; where the cuts are, the caller knows from shapes alone. Every operand has that axis, with one
// extent, at least `pieces`.
struct Cut {
  int64_t pieces = 1;
  int axis = 0;
};

// Fills `op`: fn(*inputs as read-only numpy arrays) must return what the outputs take. With the interpreter lock.
void build_host(Op& op, const char* name, PyObject* fn, const std::vector<Array>& inputs,
                const std::vector<Array>& outputs, HostTask kind, Cut cut = {});

// A task that this thread is running has been told that it waits for its own end. What it fails with then keeps no
// frames: they hold what failed, which holds the failure.
void note_self_wait();
// Of a task that ran at once: raises what a signal's handler raised meanwhile, if one did.
void raise_interruption();

bool in_host_task();       // whether this thread is running one
bool waited_for_itself();  // whether the innermost was refused a wait for its own end

}  // namespace forerun
