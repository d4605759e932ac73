// Where ops of one kind on one device wait for a worker: compute, copies, files.
#pragma once
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
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
    if (in_order_.empty() || op->seq > in_order_.back()->seq) {
      in_order_.push_back(op);
    } else {
      late_.push_back(op);
      std::push_heap(late_.begin(), late_.end(), younger);
    }
    count(1, op);
  }
  Op* top() const {
    if (late_.empty()) return in_order_.empty() ? nullptr : in_order_.front();
    return in_order_.empty() || younger(in_order_.front(), late_.front()) ? late_.front() : in_order_.front();
  }
  void pop() {
    Op* op = top();
    count(-1, op);
    if (!in_order_.empty() && op == in_order_.front()) {
      in_order_.pop_front();
    } else {
      std::pop_heap(late_.begin(), late_.end(), younger);
      late_.pop_back();
    }
  }
  // The n oldest ops behind the top (or behind the first `skip`).
  std::vector<Op*> behind_top(size_t n, size_t skip = 1) const {
    size_t most = std::min(in_order_.size(), n > in_order_.size() ? n : n + skip);
    std::vector<Op*> all(in_order_.begin(), in_order_.begin() + static_cast<long>(most));
    all.insert(all.end(), late_.begin(), late_.end());
    std::sort(all.begin(), all.end(), [](Op* a, Op* b) { return younger(b, a); });
    all.erase(all.begin(), all.begin() + static_cast<long>(std::min(skip, all.size())));
    if (all.size() > n) all.resize(n);
    return all;
  }
  // Takes an op out, wherever it stands.
  void remove(Op* op) {
    count(-1, op);
    if (auto at = std::find(in_order_.begin(), in_order_.end(), op); at != in_order_.end()) {
      in_order_.erase(at);
    } else {
      late_.erase(std::find(late_.begin(), late_.end(), op));
      std::make_heap(late_.begin(), late_.end(), younger);
    }
  }
  bool has_work() const { return seems_busy() || !sharing.empty(); }
  bool only_tiny() const { return ready_cost == 0 && sharing.empty(); }
  // A hint without the lock, for threads that look before they lock.
  bool seems_busy() const { return count_.load(std::memory_order_relaxed) > 0; }

  const Kind kind;
  const int device;
  Budget* const budget;
  int workers = 1;                // threads that serve it; 0: whoever waits does
  int busy = 0;                   // threads that run its ops: workers, and waiting threads in their place
  // A device's share of the cores is in use.
  bool full() const { return kind == Kind::compute && workers > 0 && busy >= workers; }
  uint64_t ready_cost = 0;        // ns, of the ready ops; tiny ones are not worth another worker
  std::vector<Op*> sharing;       // started, tiles left to claim
  std::condition_variable wake;   // used with the engine's lock
  std::atomic<bool> refused{false};  // a hint: there is work, but none that may start now
  // Read at each issue: on a cache line that workers seldom write.
  alignas(64) std::atomic<int> sleeping{0};   // workers in wake, plus 1 while no worker has been started
  std::atomic<int> dozing{0};     // of them, those that look at the window again within a fraction of a millisecond
  std::atomic<bool> called{false};  // a worker has been told to wake up, and has not yet
  std::atomic<int> spinning{0};   // workers that look for work without sleeping
  std::atomic<int> looking{0};    // workers that will look at the window within microseconds

 private:
  alignas(64) std::atomic<int> count_{0};
  static uint64_t worth(const Op* op) { return op->cost > 200 ? op->cost - 200 : 0; }
  static bool younger(const Op* a, const Op* b) { return a->seq > b->seq; }
  void count(int by, const Op* op) {
    ready_cost += by > 0 ? worth(op) : -worth(op);
    count_.store(count_.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  // Most ops become ready in program order and stand in a plain queue; those that become ready late stand in a heap.
  std::deque<Op*> in_order_;
  std::vector<Op*> late_;
};

}  // namespace forerun
