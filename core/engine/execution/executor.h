// The executor: memory for the outputs of ops, and their kernels, without the engine's lock.
#pragma once
#include <functional>

#include "engine/execution/worker_pool.h"

namespace forerun {

// A host task that a thread is running, and the task that encloses it.
struct RunningTask {
  Op* op;
  RunningTask* outer;  // or null
};

class Executor {
 public:
  Executor(EngineMutex& mutex, WorkerPool& pool, FailureLog& failures, OpRecorder& recorder)
      : mutex_(mutex), pool_(pool), failures_(failures), recorder_(recorder) {}

  // Returns cached memory to the system, and the number of bytes. Set by the front end.
  std::function<size_t()> trim;

  void run(Batch& batch);
  // Runs an op's whole kernel at once. before: its place among the ops that run at once.
  void run_whole(Op& op, uint64_t before);

  // The innermost host task that this thread is running; or null.
  static RunningTask* task() { return task_; }
  static bool in_task() { return task_ != nullptr; }

 private:
  void run(Work& work);
  void run_tiles(Work& work);
  void run_kernel(Work& work);
  void hand_over(Work& work);
  bool take_memory(Op& op);
  template <class F>
  void guarded(Op& op, F f, uint64_t before = UINT64_MAX);

  static thread_local RunningTask* task_;

  EngineMutex& mutex_;
  WorkerPool& pool_;
  FailureLog& failures_;
  OpRecorder& recorder_;
};

}  // namespace forerun
