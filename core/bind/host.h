// Host tasks: Python callables that workers run under the interpreter lock.
#pragma once
#include <vector>

#include "bind/array.h"

namespace forerun {

// Fills `op`: fn(*inputs as read-only numpy arrays) must return what the outputs take. With the interpreter lock.
void build_host(Op& op, const char* name, PyObject* fn, const std::vector<Array>& inputs, const std::vector<Array>& outputs);

}  // namespace forerun
