// The engine's lock.
#pragma once
#include <mutex>

namespace forerun {

using Lock = std::unique_lock<std::mutex>;

// Locks the mutex again. The thread tries for a moment before it sleeps.
void relock(Lock& held);

// Guards the graph of ops, the ready queues, the budgets and the state of the workers, for microseconds at a time;
// kernels run without it. A thread may take it while it holds the front end's own lock (the interpreter's), never the
// other way round.
class EngineMutex {
 public:
  Lock lock();
  // While the process forks.
  void hold() { mutex_.lock(); }
  void release() { mutex_.unlock(); }

 private:
  alignas(64) std::mutex mutex_;
};

}  // namespace forerun
