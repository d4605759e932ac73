#include "engine/graph/op.h"

#include "engine/graph/lane.h"
#include "engine/graph/queue.h"

namespace forerun {

bool Op::follows(const Op& before) const { return queue->lane && queue->lane->follows(*before.queue->lane); }

bool Op::follow(const Op& before, const Edge& edge) {
  if (!follows(before)) return false;
  ++followed;
  mark_unwritten(edge, true);
  return true;
}

void Op::unfollow(const Edge& edge) {
  --followed;
  mark_unwritten(edge, false);
}

void Op::mark_unwritten(const Edge& edge, bool unwritten) {
  for (int i = 0; i < n_access; ++i)
    if (&access(i).from == &edge) access(i).unwritten = unwritten;
}

Access& Op::spill() {
  more_access_.emplace_back();
  return more_access_.back();
}

}  // namespace forerun
