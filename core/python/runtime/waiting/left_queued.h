// Synchronous mode waits for each operation, but not for a message from another rank, which may come only when this
// one goes on. Nor is an operation behind such a one waited for, until somebody reads its values.
//
// A collective is waited for, as long as no other rank has said that it waits itself, for operations left queued there:
// that one may come to the collective only when this rank goes on.
#pragma once
#include <vector>

#include "engine/devices/lane.h"
#include "engine/operations/op.h"

namespace forerun {

// All with the interpreter lock held.
// Whether the op must wait for one that was left queued and has not ended.
bool is_behind_left_queued(Op& op);
// Remembers the op, which is about to be issued and not waited for.
void leave_queued(Op& op);
// The same for one that was issued, by the storages of its accesses. It may have ended.
void leave_queued(std::vector<Storage*> written, std::vector<const Storage*> read);

// The lane of the operations between ranks; null: none.
extern Lane* between_ranks;

// A wait of this thread: one that lasts is reported to other ranks, if it may be for operations that were left queued.
class ToldWait {
 public:
  ToldWait() = default;
  ToldWait(const ToldWait&) = delete;
  ~ToldWait() {
    if (lane_) lane_->thread_waits(false);
  }
  void lasts();

 private:
  Lane* lane_ = nullptr;
};

}  // namespace forerun
