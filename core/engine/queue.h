// Where ops of one kind on one device wait for a worker: compute, copies, files.
#pragma once
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <vector>

#include "engine/op.h"

namespace forerun {

// Ops whose dependencies are met, oldest first, and ops that run and still have tiles to give away.
// Everything is guarded by the engine's lock, except what is atomic.
class Queue {
 public:
  enum class Kind { compute, copy, io };
  Queue(Kind kind, int device, Budget* budget) : kind(kind), device(device), budget(budget) {}

  void push(Op* op) {
    ready_.push_back(op);
    std::push_heap(ready_.begin(), ready_.end(), younger);
    ready_cost += worth(op);
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  Op* top() const { return ready_.empty() ? nullptr : ready_.front(); }
  void pop() {
    ready_cost -= worth(ready_.front());
    std::pop_heap(ready_.begin(), ready_.end(), younger);
    ready_.pop_back();
    count_.store(count_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  }
  // Takes the op at position i of the heap out, wherever it stands.
  const std::vector<Op*>& ready() const { return ready_; }
  void remove(Op* op) {
    ready_cost -= worth(op);
    ready_.erase(std::find(ready_.begin(), ready_.end(), op));
    std::make_heap(ready_.begin(), ready_.end(), younger);
    count_.store(count_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  }
  bool has_work() const { return !ready_.empty() || !sharing.empty(); }
  // A hint without the lock, for threads that look before they lock.
  bool seems_busy() const { return count_.load(std::memory_order_relaxed) > 0; }

  const Kind kind;
  const int device;
  Budget* const budget;
  int workers = 1;                // threads that serve it; 0: whoever waits does
  uint64_t ready_cost = 0;        // ns, of the ops in ready; tiny ones are not worth another worker
  std::vector<Op*> sharing;       // started, tiles left to claim
  std::condition_variable wake;   // used with the engine's lock
  // Read at each issue: on a cache line that workers seldom write.
  alignas(64) std::atomic<int> sleeping{0};   // workers in wake, plus 1 while no worker has been started
  std::atomic<int> spinning{0};   // workers that look for work without sleeping
  std::atomic<int> looking{0};    // workers that will look at the window within microseconds

 private:
  alignas(64) std::atomic<int> count_{0};
  static uint64_t worth(const Op* op) { return op->cost > 200 ? op->cost - 200 : 0; }
  static bool younger(const Op* a, const Op* b) { return a->seq > b->seq; }
  std::vector<Op*> ready_;  // a heap
};

}  // namespace forerun
