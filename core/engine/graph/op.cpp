#include "engine/graph/op.h"

namespace forerun {

Access& Op::spill() {
  more_access_.emplace_back();
  return more_access_.back();
}

}  // namespace forerun
