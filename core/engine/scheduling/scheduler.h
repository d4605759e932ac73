// The scheduler: adds submitted ops to the dependency graph, and picks the ready op to run next.
#pragma once
#include <algorithm>
#include <atomic>

#include "engine/passes/fusion.h"
#include "engine/scheduling/memory_admission.h"
#include "engine/scheduling/producer.h"

namespace forerun {

// Work that a thread has taken: one op, or one tile of an op.
struct Work {
  Op* op;
  int64_t tile = 0;
  bool joins = false;      // another thread has started the op
  bool no_memory = false;  // the op has not run, because memory was exhausted
  bool held_back = false;  // an op that it follows may have failed: it has not run
  bool run_later = false;  // its kernel has thrown RunLater: a worker must run it
  bool accepted = false;   // by its lane
};

// Work that a thread takes at once: a batch of small ops, one op, or one tile of an op.
struct Batch {
  static constexpr int kMost = 32;

  Work work[kMost];  // the first n are set; not initialised, as a wait for a small op has a batch of its own
  int n = 0;
  int sure = 0;           // ops behind the first `sure` depend on others of the batch, which are expected not to fail
  Queue* held = nullptr;  // it occupies one of the cores, for this queue,
  int cpu = 0;            // and runs on this CPU
  bool rest = false;      // it came back empty, and the available work is left to the thread
  bool is_task() const { return n > 0 && work[0].op->is_task(); }  // it is alone then
  uint64_t cost() const {
    uint64_t sum = 0;
    for (int i = 0; i < n; ++i) sum += whole_cost(*work[i].op);
    return sum;
  }
};

// Costs of ops, in ns.
constexpr uint32_t kSmallCost = 2500;           // not worth a lock of its own
constexpr uint32_t kCatchUpCost = kLittleCost;  // of the longest op that a submitting thread runs to catch up
constexpr uint32_t kHelpCost = 20'000'000;      // a waiting thread runs no longer op, to answer signals
constexpr uint32_t kAnyCost = UINT32_MAX;

// With the engine's lock, atomics aside.
class Scheduler {
 public:
  Scheduler(SubmissionRing& ring, Producer& producer, const DeviceTable& devices, DependencyGraph& graph,
            FailureLog& failures, Notifier& notifier, OpRecorder& recorder, const PassSettings& settings)
      : ring_(ring), producer_(producer), devices_(devices), graph_(graph), notifier_(notifier), recorder_(recorder),
        settings_(settings), memory_(devices, graph, failures), dead_ops_(settings, ring, graph),
        fusion_(settings, ring, devices, dead_ops_, buffer_reuse_, [this](const Op& op) { plan_behind(op); }) {}

  // Adds the next submitted ops to the graph, some hundred at once.
  void plan();
  // Fills an empty batch from a queue, with ops or tiles that cost at most `most`. False: none may start now.
  // `only` (not null): this op alone, ahead of program order.
  bool pick(Queue& queue, uint32_t most, Batch& batch, Op* only = nullptr);
  // The same for a waiting thread, from any queue: the op that writes the storage it waits for (null: it waits for
  // others, too) first, then the oldest work.
  bool pick_any(Batch& batch, uint32_t most, const Storage* wanted);
  // The ops of the batch have run: they end, or go back to their queues. Releases the lock for a moment. True: the
  // batch was not empty.
  bool finish(Batch& batch, Lock& held);
  // If waiting threads do all work, notifies them to look again.
  void notify_if_no_workers();

  // Whether as many kernels run as may run at once, so that an idle worker would not start one.
  bool all_cores_busy() const { return busy_ >= cores_; }
  // The same, except that one core may be in use by the front end: another thread that computes now takes time from
  // them.
  bool cores_taken() { return all_cores_busy() || (busy_ > 0 && busy_ + 1 == cores_ && producer_.active()); }
  bool anything_runs() const { return busy_ > 0; }
  void set_cores(int n) { cores_ = std::max(1, n); }
  int cores() const { return cores_; }
  // Whether the last pick() left work to a thread that might not take it: look again soon.
  bool gave_way() const { return gave_way_; }
  CpuOccupancy& cpus() { return cpus_; }
  // The passes, for their counts.
  const DeadOps& dead_ops() const { return dead_ops_; }
  const Fusion& fusion() const { return fusion_; }
  const BufferReuse& buffer_reuse() const { return buffer_reuse_; }

  // Whether the gate is closed: nothing is planned or started. Written with the engine's lock, read by any thread.
  bool gate_closed(std::memory_order order = std::memory_order_seq_cst) const { return gate_.load(order); }
  void set_gate(bool closed) { gate_.store(closed); }

 private:
  Op* oldest_ready(Queue& queue, Queue::Tasks tasks);
  Op* ready_writer(const Storage& wanted);
  Op* admissible(Queue& queue, uint32_t most, Op* only = nullptr);
  bool start(Op* op);
  void plan_behind(const Op& op);
  void put_back(const Work& work);
  void add_followers(Batch& batch, uint32_t most);
  bool left_to_older(const Queue& queue, uint64_t seq);

  SubmissionRing& ring_;
  Producer& producer_;
  const DeviceTable& devices_;
  DependencyGraph& graph_;
  Notifier& notifier_;
  OpRecorder& recorder_;
  const PassSettings& settings_;
  MemoryAdmission memory_;
  DeadOps dead_ops_;
  BufferReuse buffer_reuse_;
  Fusion fusion_;
  // Guarded by the engine's lock.
  int cores_ = 1;      // the number of threads that may run kernels at once,
  int busy_ = 0;       // the number that do,
  CpuOccupancy cpus_;  // and their CPUs
  bool gave_way_ = false;
  std::atomic<bool> gate_{false};
};

}  // namespace forerun
