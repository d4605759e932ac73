// Waits of host tasks, to detect a task that waits for its own end.
#pragma once
#include "engine/execution/executor.h"

namespace forerun {

class TaskWaits;

// A wait of a thread that is running a host task: none of its tasks ends before the storage is settled. Made by that
// thread, and known to the engine from the first check (TaskWaits::waits_for_itself) until its end.
class TaskWait {
 public:
  TaskWait(TaskWaits& known, Storage& storage);
  TaskWait(const TaskWait&) = delete;
  ~TaskWait();

 private:
  friend class TaskWaits;
  TaskWaits& waits_;
  Storage* const storage_;
  RunningTask* const tasks_;  // of the thread, the innermost first; unchanged while this wait lasts

  // Guarded by the engine's lock.
  bool known_ = false;
  TaskWait *prev_ = nullptr, *next_ = nullptr;  // in TaskWaits::all_
};

// A host task that waits for its own end.
struct SelfWait {
  bool found = false;
  const char* name = "";
  uint32_t site = 0;  // where it was submitted
};

// The waits in progress.
class TaskWaits {
 public:
  explicit TaskWaits(EngineMutex& mutex) : mutex_(mutex) {}
  // For a wait in progress: whether the storage is settled only after the task itself has ended, as far as is known
  // now.
  SelfWait waits_for_itself(TaskWait& wait);
  void forget(TaskWait& wait);
  // In the child of a fork: the waiting threads are the parent's.
  void forget_all();

 private:
  bool comes_after(Op& first, const Storage& storage) const;

  EngineMutex& mutex_;
  TaskWait* all_ = nullptr;  // guarded by the engine's lock
};

}  // namespace forerun
