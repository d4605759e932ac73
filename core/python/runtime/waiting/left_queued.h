// Synchronous mode waits for each operation, except for a receive from another rank: the message may be sent only after
// this rank continues. The receive is left queued, as are the operations that depend on it, until their values are
// read.
//
// A collective is waited for, unless another rank announces that it is blocked by operations left queued on it: that
// rank may reach the collective only after this one continues.
#pragma once
#include <vector>

#include "engine/devices/lane.h"
#include "engine/operations/op.h"

namespace forerun {

// All with the interpreter lock held.
// Whether the op must wait for one that was left queued and has not ended.
bool is_behind_left_queued(Op& op);
// Records the op, which is about to be issued without a wait for its end.
void leave_queued(Op& op);
// The same for an op that was issued, by the storages of its accesses. It may have ended.
void leave_queued(std::vector<Storage*> written, std::vector<const Storage*> read);

// The lane of the operations between ranks; null: it does not exist yet.
extern Lane* between_ranks;

// Announces to other ranks, from begin() to its destruction, that this thread is blocked; only if operations that were
// left queued may be the reason.
class AnnouncedWait {
 public:
  AnnouncedWait() = default;
  AnnouncedWait(const AnnouncedWait&) = delete;
  ~AnnouncedWait() {
    if (lane_) lane_->thread_waits(false);
  }
  void begin();

 private:
  Lane* lane_ = nullptr;
};

}  // namespace forerun
