// Records the stages of an op for a profile, from its submission to its end.
#pragma once
#include "engine/operations/op.h"
#include "trace/trace.h"

namespace forerun {

class OpRecorder {
 public:
  explicit OpRecorder(Trace& trace) : trace_(trace) {}
  bool on() const { return trace_.on(); }
  uint64_t now() const { return on() ? Trace::now() : 0; }

  // Gives the op a record, unless it is not in the sample. By the thread that submits it.
  void submitted(Op& op);
  // With the engine's lock, if the op has a record: the op is about to enter the dependency graph;
  void reads(Op& op);
  // the op has entered it, at a time (cycles);
  void planned(Op& op, uint64_t now);
  // the op has ended, alone or within the group of `first`.
  void ended(const Op& op, const Op* first);
  // The op has run at once, without entering the graph.
  void ran_at_once(Op& op, uint64_t started);
  void tile(const Op& op, uint64_t started) { trace_.tile(*op.record, started, Trace::now()); }

 private:
  Trace& trace_;
};

}  // namespace forerun
