// The scheduler: takes submitted ops into the dependency graph, and says which ready op runs next.
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
  bool no_memory = false;  // for it: it has not run
  bool held_back = false;  // an op that it follows may have failed: it has not run
  bool run_later = false;  // its kernel has thrown RunLater: a worker must run it
  bool accepted = false;   // by its lane
};

// Work that a thread takes in one go: small ops by the batch, or one op, or one tile of an op.
struct Batch {
  static constexpr int kMost = 32;

  Work work[kMost];  // the first n; not initialised, as a wait for a small op has one of its own
  int n = 0;
  int sure = 0;           // those behind the first `sure` wait for others of the batch, which are expected not to fail
  Queue* held = nullptr;  // it holds one of the cores, for this queue,
  int cpu = 0;            // while it runs on this CPU
  bool rest = false;      // there was work when it came back empty, which is left to the thread
  bool is_task() const { return n > 0 && work[0].op->is_task(); }  // it is alone then
  uint64_t cost() const {
    uint64_t sum = 0;
    for (int i = 0; i < n; ++i) sum += std::max(work[i].op->cost, work[i].op->group_cost);
    return sum;
  }
};

// Costs of ops, in ns.
constexpr uint32_t kSmallCost = 2500;  // not worth a lock of its own
constexpr uint32_t kAnyCost = UINT32_MAX;

// With the engine's lock, atomics aside.
class Scheduler {
 public:
  Scheduler(SubmissionRing& ring, Producer& producer, const DeviceTable& devices, DependencyGraph& graph,
            FailureLog& failures, Notifier& notifier, OpRecorder& recorder, const PassSettings& settings)
      : ring_(ring), producer_(producer), devices_(devices), graph_(graph), notifier_(notifier), recorder_(recorder),
        settings_(settings), memory_(devices, graph, failures), dead_ops_(settings, ring, graph),
        fusion_(settings, ring, devices, dead_ops_, buffer_reuse_, [this](const Op& op) { plan_behind(op); }) {}

  // Takes the next submitted ops into the graph, some hundred at once.
  void plan();
  // Fills an empty batch from a queue, with ops that cost at most `most`, or tiles that do. False: none may start now.
  bool pick(Queue& queue, uint32_t most, Batch& batch);
  // The same for a waiting thread, from any queue: the one whose work is oldest first.
  bool pick_any(Batch& batch, uint32_t most);
  // The ops of the batch have run: they end, or go back to their queues. Releases the lock for a moment. True: there
  // was something.
  bool finish(Batch& batch, Lock& held);
  // Where waiting threads do all work, they must look again.
  void notify_if_no_workers();

  // Whether all kernels that may run at once do, and a worker that is free now would not start one.
  bool all_cores_busy() const { return busy_ >= cores_; }
  // The same, but for one core perhaps that the front end uses: another thread that computes now takes time from them.
  bool cores_taken() { return all_cores_busy() || (busy_ > 0 && busy_ + 1 == cores_ && producer_.active()); }
  bool anything_runs() const { return busy_ > 0; }
  void set_cores(int n) { cores_ = std::max(1, n); }
  int cores() const { return cores_; }
  // The last pick() left work to a thread that might not take it: look again soon.
  bool gave_way() const { return gave_way_; }
  CpuOccupancy& cpus() { return cpus_; }
  // The passes, for their counts.
  const DeadOps& dead_ops() const { return dead_ops_; }
  const Fusion& fusion() const { return fusion_; }
  const BufferReuse& buffer_reuse() const { return buffer_reuse_; }

  // A closed gate: nothing is planned or started. Written with the engine's lock, read by any thread.
  bool gate_closed(std::memory_order order = std::memory_order_seq_cst) const { return gate_.load(order); }
  void set_gate(bool closed) { gate_.store(closed); }

 private:
  Op* oldest_ready(Queue& queue, Queue::Tasks tasks);
  Op* admissible(Queue& queue, uint32_t most);
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
  int cores_ = 1;      // how many threads may run kernels at once,
  int busy_ = 0;       // how many do,
  CpuOccupancy cpus_;  // and where
  bool gave_way_ = false;
  std::atomic<bool> gate_{false};
};

}  // namespace forerun
