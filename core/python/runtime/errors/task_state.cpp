#include "python/runtime/errors/task_state.h"

#include <utility>

#include "python/bindings.h"
#include "python/runtime/errors/errors.h"

namespace forerun {

constinit thread_local TaskState task_state{};

void raise_interruption() {
  nb::object raised = nb::steal(std::exchange(task_state.interruption, nullptr));
  if (!raised) return;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
  throw PythonError{};
}

bool in_host_task() { return task_state.depth > 0; }
void note_self_wait() { task_state.self_wait = true; }
bool waited_for_itself() { return task_state.self_wait; }

}  // namespace forerun
