// The state of the engine, for users and tools: counts, and the ops that have not ended.
#pragma once
#include <string>
#include <vector>

#include "engine/execution/at_once.h"
#include "engine/execution/waiter.h"

namespace forerun {

struct EngineStats {
  uint64_t issued, planned, ended, failed, waits, helped;  // ops, but for waits (calls)
  uint64_t dropped, groups, grouped, elided,
      reused;        // ops, groups, ops in groups; bytes that never had memory, or took an input's
  uint64_t at_once;  // ops that the submitting thread ran during the call; they also count as issued, planned and ended
};

// An op that has been submitted and has not ended.
struct Pending {
  enum class State : uint8_t {
    issued,   // not in the graph yet
    waiting,  // for other ops
    ready,    // for a thread or memory
    running
  } state;
  uint64_t seq, after;  // `after`: the oldest op that it waits for, or 0
  const char* name;
  uint32_t site;
  int device, queue;
  size_t needs;  // bytes of memory that it still needs
};

// The same, with the pending ops whose results it reads, to draw the pending work.
struct Needed : Pending {
  uint64_t group = 0;  // number of the first op of the group that it runs in; 0: not in a group, or not known yet
  DebugShape form;     // of its first output
  std::vector<uint64_t> reads;
};

// Any thread.
class Introspection {
 public:
  Introspection(EngineMutex& mutex, const SubmissionRing& ring, const DeviceTable& devices,
                const DependencyGraph& graph, const FailureLog& failures, Scheduler& scheduler,
                const Dispatcher& dispatcher, const Waiter& waiter, const AtOnceRunner& at_once, Trace& trace)
      : mutex_(mutex), ring_(ring), devices_(devices), graph_(graph), failures_(failures), scheduler_(scheduler),
        dispatcher_(dispatcher), waiter_(waiter), at_once_(at_once), trace_(trace) {}

  EngineStats stats();
  std::vector<Pending> pending(size_t most);  // the oldest ones
  // The latest `most` pending ops that the storages need, in order.
  std::vector<Needed> needed(const std::vector<const Storage*>& results, size_t most);
  // Number of the last submitted op that writes the storage and has not ended; 0: there is no such op.
  uint64_t writer(const Storage& storage);
  bool held_for_memory();  // ops are ready, and memory is exhausted
  bool cores_taken();      // Scheduler::cores_taken()

  // Begins a recording, into a file unless `path` is null; 0 or an errno: Trace::start().
  int record_into(const char* path);
  std::string take_record();

 private:
  static Pending describe(Op* op, uint64_t seq, uint64_t planned);

  EngineMutex& mutex_;
  const SubmissionRing& ring_;
  const DeviceTable& devices_;
  const DependencyGraph& graph_;
  const FailureLog& failures_;
  Scheduler& scheduler_;
  const Dispatcher& dispatcher_;
  const Waiter& waiter_;
  const AtOnceRunner& at_once_;
  Trace& trace_;
};

}  // namespace forerun
