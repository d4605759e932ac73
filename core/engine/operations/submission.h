// Submission: ops enter a ring in program order, without a lock and without an allocation.
//
//   next()     number of the next op to be submitted: the ring's head
//   planned()  number of the next op that is to enter the dependency graph
//   front()    number of the oldest op that has not ended
//
//   front <= planned <= next, and next - front is limited: a program that is far ahead waits (back-pressure).
#pragma once
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace forerun {

class Op;

class SubmissionRing {
 public:
  static constexpr uint64_t kLeastSlots = 1 << 16;

  SubmissionRing() { resize(kLeastSlots); }

  // --- Any thread ---
  // Draws a number for an op; put() must follow soon, since planning waits for the op behind it.
  uint64_t draw_number() { return next_.fetch_add(1); }
  void put(uint64_t seq, Op* op) { slot(seq).store(op, std::memory_order_release); }
  uint64_t next(std::memory_order order = std::memory_order_seq_cst) const { return next_.load(order); }
  uint64_t planned(std::memory_order order = std::memory_order_relaxed) const { return planned_.load(order); }
  uint64_t front(std::memory_order order = std::memory_order_seq_cst) const { return front_.load(order); }
  // Whether ops have been submitted that are not in the graph yet.
  bool has_fresh() const { return next() != planned(); }
  uint64_t fresh() const { return next(std::memory_order_relaxed) - planned(); }
  bool idle() const { return front() == next(); }
  bool has_ended(uint64_t mark) const { return front() >= mark; }  // all ops before it
  // Whether too many ops are in flight. Reads the front's cache line only if the local copy says so.
  bool full() {
    uint64_t next = next_.load(std::memory_order_relaxed);
    if (next - front_seen_.load(std::memory_order_relaxed) < ops_ahead_) return false;
    front_seen_.store(front_.load(std::memory_order_acquire), std::memory_order_relaxed);
    return next - front_seen_.load(std::memory_order_relaxed) >= ops_ahead_;
  }
  // Whether hardly a slot is left: even a thread that cannot wait must not submit.
  bool nearly_full() const { return next() - front() + 1024 >= size_; }
  uint64_t ops_ahead() const { return ops_ahead_; }

  // --- With the engine's lock ---
  // The op with that number; null: it is being submitted at this moment, or has ended.
  Op* peek(uint64_t seq) const { return slot(seq).load(std::memory_order_acquire); }
  // The same of one that is planned.
  Op* op(uint64_t seq) const { return slot(seq).load(std::memory_order_relaxed); }
  void clear(uint64_t seq) { slot(seq).store(nullptr, std::memory_order_relaxed); }
  // Put into the slot of an op that had a number and has run at once: planning skips it.
  static Op* ended_already();
  void set_planned(uint64_t seq) { planned_.store(seq, std::memory_order_relaxed); }
  // Skips the ops that have ended; returns the new front.
  uint64_t advance_front();

  // --- While it is empty ---
  // Sets how many ops may be in flight.
  void set_ops_ahead(uint64_t n);
  static uint64_t slots_for(uint64_t ops_ahead);  // several threads may pass the limit by one op each
  uint64_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::atomic<Op*>* slots) const { std::free(slots); }
  };
  std::atomic<Op*>& slot(uint64_t seq) const { return slots_[seq & (size_ - 1)]; }
  void resize(uint64_t size);  // a power of two

  std::unique_ptr<std::atomic<Op*>[], Free> slots_;  // a slot holds its op from submission until the op has ended
  uint64_t size_ = 0;
  alignas(64) std::atomic<uint64_t> next_{1};  // on a cache line of the submitting threads
  std::atomic<uint64_t> front_seen_{1};        // front_ as submitting threads last read it
  uint64_t ops_ahead_ = 1 << 14;
  alignas(64) std::atomic<uint64_t> planned_{1};  // written with the engine's lock,
  std::atomic<uint64_t> front_{1};                // as is this
};

}  // namespace forerun
