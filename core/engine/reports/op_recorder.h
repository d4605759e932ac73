// What a profile records of an op, from its submission to its end.
#pragma once
#include "engine/operations/op.h"
#include "trace/trace.h"

namespace forerun {

class OpRecorder {
 public:
  explicit OpRecorder(Trace& trace) : trace_(trace) {}
  bool on() const { return trace_.on(); }
  uint64_t now() const { return on() ? Trace::now() : 0; }

  // The op gets a record, unless it is not in the sample. By the thread that submits it.
  void submitted(Op& op);
  // With the engine's lock, if the op has a record: it is about to enter the dependency graph;
  void reads(Op& op);
  // it has, at a time (cycles);
  void planned(Op& op, uint64_t now);
  // it has ended, alone or within the group of `first`.
  void ended(const Op& op, const Op* first);
  // An op that has run at once, which the graph never sees.
  void ran_at_once(Op& op, uint64_t started);
  void tile(const Op& op, uint64_t started) { trace_.tile(*op.record, started, Trace::now()); }

 private:
  Trace& trace_;
};

}  // namespace forerun
