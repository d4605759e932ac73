// The gate in front of the engine: while one thread quiesces the engine, others submit nothing. Modelled in
// verification/models/life.py.
#pragma once
#include <atomic>

#include "engine/graph/sections.h"

namespace forerun {

class SubmissionGate {
 public:
  // Keeps other threads from submitting; true: this thread had already closed it. With the interpreter lock, as open().
  static bool close();
  static void open();
  static bool is_closed(std::memory_order order = std::memory_order_seq_cst) { return owner_.load(order) != 0; }
  // Waits while another thread has closed it. A thread on which a task waits must pass eventually, so the wait is
  // limited, unless `always`.
  static void wait_open(bool always);
  // Closes it for good: pending work is abandoned.
  static void close_for_good() { owner_ = kForGood; }

 private:
  static void release_submitters();

  static constexpr unsigned long kForGood = ~0ul;
  static inline std::atomic<unsigned long> owner_{
      0};  // the thread that has closed it; written with the interpreter lock
  static inline std::atomic<int> blocked_submitters_{0};
};

// While it lives, the gate is closed.
class ClosedGate {
 public:
  ClosedGate() : before_(SubmissionGate::close()) {}
  ClosedGate(const ClosedGate&) = delete;
  ~ClosedGate() {
    if (!before_) SubmissionGate::open();
  }

 private:
  const bool before_;
};

// From now on, waits raise an error with this reason: no thread does the pending work.
void abandon_pending_work(const char* why);
bool engine_abandoned();
void check_not_abandoned();  // RuntimeError

}  // namespace forerun
