// The end of the issue path: hands operations to the engine, with the interpreter lock held.
#pragma once
#include <utility>

#include "engine/engine.h"

namespace forerun {

extern bool synchronous;
// For this thread: its operations belong to an exchange between devices. They may read arrays of other CPU devices in
// place, and run before older ready ops.
extern constinit thread_local bool in_collective;
// Hands `op` to a queue of the device. May wait for a free slot; throws PythonError if that is interrupted, or
// (synchronous mode) if the op fails. `cheap`: a host task that costs no more than handing it over, so that it may run
// at once.
void issue(Op* op, int device, Queue::Kind kind = Queue::Kind::compute, bool cheap = false);
// The same for an op that has the kernel of that device; its outputs are in the memory of the device `memory`. For
// operations between ranks see waiting/left_queued.h.
void issue_placed(Op* op, int device, Queue::Kind kind, int memory, bool cheap = false);

// An op being built: discarded if building it fails, issued otherwise.
class Building {
 public:
  Building() = default;
  Building(const Building&) = delete;
  ~Building() {
    if (op_) Engine::get().discard(op_);
  }
  Op& operator*() { return *op_; }
  void issue(int device, Queue::Kind kind = Queue::Kind::compute, bool cheap = false) {
    forerun::issue(std::exchange(op_, nullptr), device, kind, cheap);
  }

  void issue_placed(int device, Queue::Kind kind, int memory) {
    forerun::issue_placed(std::exchange(op_, nullptr), device, kind, memory);
  }

 private:
  Op* op_ = Engine::get().make_op();
};

}  // namespace forerun
