#include "engine/passes/dead_ops.h"

namespace forerun {

// An op that can be dropped writes one or two storages, however many it reads.
bool DeadOps::is_dead(Op& op) {
  bool writes = false;
  for (int i = 0; i < op.n_access; ++i) {
    if (op.access(i).mode == Mode::read) continue;
    writes = true;
    Storage* s = op.access(i).storage;
    if (s->more_than(static_cast<uint32_t>(op.n_access))) return false;  // most storages have other users
    uint32_t mine = 0;
    for (int k = 0; k < op.n_access; ++k) mine += op.access(k).storage == s;
    if (!s->only_ops(mine)) return false;
  }
  return writes && !op.kept && op.kernel()->droppable();
}

void DeadOps::drop(Op* op) {
  op->dropped = true;
  ++count_;
  for (int i = 0; i < op->n_access; ++i) {
    Access& a = op->access(i);
    DependencyGraph::leave(a);
    Storage& s = *a.storage;
    if (a.mode != Mode::read) DependencyGraph::count_end(a);
    if (s.last_use == op->seq) s.last_use = s.readers ? s.readers->op()->seq : s.writer ? s.writer->seq : 0;
    graph_.release(*op, s);
  }
  op->n_access = 0;
}

// From the youngest to the oldest, so that a whole chain of ops is dropped at once.
bool DeadOps::drop_all(uint64_t first, uint64_t last) {
  if (!settings_.on(Pass::drop)) return false;
  bool any = false;
  for (uint64_t seq = last; seq-- > first;) {
    Op* op = ring_.op(seq);
    if (op && is_dead(*op)) drop(op), any = true;
  }
  return any;
}

}  // namespace forerun
