// This thread's state about the host tasks that it is running.
#pragma once
#include <Python.h>

#include <utility>

namespace forerun {

// Host tasks that this thread is running, and whether the innermost was refused a wait for its own end.
struct TaskState {
  int depth;
  bool self_wait;
  PyObject* interruption;  // the exception of a signal handler in a task that ran at once; owned
};
extern constinit thread_local TaskState task_state;

// While it lives, this thread runs a host task.
class TaskScope {
 public:
  TaskScope() { ++task_state.depth; }
  ~TaskScope() { --task_state.depth, task_state.self_wait = outer_; }
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;

 private:
  const bool outer_ = std::exchange(task_state.self_wait, false);
};

// A task that this thread is running waited for its own end, and got an error. The exception of its failure keeps no
// frames: they hold the array that failed, which holds the failure.
void note_self_wait();
// For a task that ran at once: raises the exception that the handler of a signal raised meanwhile, if one did.
void raise_interruption();

bool in_host_task();       // whether this thread is running one
bool waited_for_itself();  // whether the innermost task was refused a wait for its own end

}  // namespace forerun
