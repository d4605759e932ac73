#include "engine/operations/op.h"

namespace forerun {

void Op::follow(const Edge& edge) {
  ++followed;
  mark_unwritten(edge, true);
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
