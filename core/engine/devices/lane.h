// A device, or a network, that works on its own: operations are handed over to it and end later.
//
//   class Stream : public Lane {
//     Outcome hand_over(Op& op) override {
//       enqueue(op, [&op] { Engine::get().complete(op, nullptr); });   // from a thread of the device, some time later
//       return Outcome::accepted;
//     }
//   };
//   engine.set_lane(3, Queue::Kind::compute, &stream);               // while the engine is idle
//
// The queue of a lane has one thread, which hands ops over and needs no core. An op that reads the results of an
// earlier op of the lane need not wait for the end of that op, if the lane itself keeps such ops in order (follows()):
// it is handed over behind it. It still ends after the earlier op, so that the failure of that op is known, whichever
// the lane reports first.
//
// Modelled in verification/models/lane.py.
#pragma once
#include <cstdint>

namespace forerun {

class Op;
struct Failure;

class Lane {
 public:
  enum class Outcome : uint8_t { accepted, no_memory };
  virtual ~Lane() = default;
  // By the queue's thread, without a lock. The op has started, and its outputs have memory if their storages need any.
  // If it is accepted, Engine::complete() must be called once, by any thread, perhaps before this returns. no_memory:
  // it has not begun, and is tried again when it is the oldest op and nothing else runs. May throw forerun::Error: then
  // the op has failed, and must not be completed.
  virtual Outcome hand_over(Op& op) = 0;
  // Whether ops of this lane may be handed over while ops that they depend on, which were handed over to `before`, have
  // not ended. Always the same answer.
  virtual bool follows(const Lane& before) const { return this == &before; }
  // An op of the lane ends without a hand-over, because an operand has failed or memory was exhausted. By the queue's
  // thread, without a lock, before the op ends.
  virtual void left_out(Op&, const Failure&) {}
  // Whether other threads may replace the queue's thread, which then need not be woken: the thread that issues an op,
  // threads that wait, and threads that complete the ops before it. They hand ops over, one at a time as far as one
  // depends on another: such a lane has no follows(). Waiting threads also call attend(). Always the same answer.
  virtual bool attended() const { return false; }
  // By a waiting thread, without a lock: makes progress on the accepted operations. Returns whether to call it again at
  // once.
  virtual bool attend() { return false; }
  // For lanes between processes. A thread begins (true) or ends (false) a wait for values that may need progress of
  // other processes; meanwhile it begins no operation.
  virtual void thread_waits(bool) {}
  // Whether the last operation begun waits for a process that has announced that it is blocked.
  virtual bool blocked_on_peer() const { return false; }
};

}  // namespace forerun
