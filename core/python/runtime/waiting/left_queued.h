// Synchronous mode waits for each operation, but not for a message from another rank, which may come only when this
// one goes on. Nor is an operation behind such a one waited for, until somebody reads its values.
#pragma once
#include "engine/operations/op.h"

namespace forerun {

// All with the interpreter lock held.
// Whether the op must wait for one that was left queued and has not ended.
bool is_behind_left_queued(Op& op);
// Remembers the op, which is about to be issued and not waited for.
void leave_queued(Op& op);

}  // namespace forerun
