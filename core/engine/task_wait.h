// Which host tasks wait, so that one which waits for its own end can be told.
#pragma once
#include "engine/op.h"

namespace forerun {

// A host task that a thread is running, and the one within which it does.
struct RunningTask {
  Op* op;
  RunningTask* outer;  // or null
};

// A wait of a thread that is running a host task: none of its tasks ends before the storage is settled. Made by that
// thread, and known to the engine from the first look on (Engine::waits_for_itself) until its end.
class TaskWait {
 public:
  explicit TaskWait(Storage& storage);
  TaskWait(const TaskWait&) = delete;
  ~TaskWait();

 private:
  friend class Engine;
  Storage* const storage_;
  RunningTask* const tasks_;  // of the thread, the innermost first; these stay as they are while this wait lasts

  // Guarded by the engine's lock.
  bool known_ = false;
  TaskWait *prev_ = nullptr, *next_ = nullptr;  // in Engine::task_waits_
};

}  // namespace forerun
