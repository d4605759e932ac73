#include "python/runtime/waiting/left_queued.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace forerun {

Lane* between_ranks = nullptr;

namespace {

// An op that was left queued. Until it ends it keeps references to its storages, so that their addresses are not
// reused.
struct Left {
  std::vector<Storage*> written;  // with a reference each; settled once the op has ended
  std::vector<const Storage*> read;

  bool has_ended() const {
    return std::all_of(written.begin(), written.end(), [](const Storage* s) { return s->settled(); });
  }
  bool is_before(const Access& a) const {
    return std::find(written.begin(), written.end(), a.storage) != written.end() ||
           (a.mode != Mode::read && std::find(read.begin(), read.end(), a.storage) != read.end());
  }
};

// Guarded by the interpreter lock. forget_ended() removes those that have ended.
std::vector<Left>& all() {
  static auto* ops = new std::vector<Left>;  // never destroyed: some may be in flight at exit
  return *ops;
}

void forget_ended() {
  std::erase_if(all(), [](Left& left) {
    if (!left.has_ended()) return false;
    for (Storage* s : left.written) s->release();
    return true;
  });
}

}  // namespace

bool is_behind_left_queued(Op& op) {
  if (all().empty()) return false;
  forget_ended();
  for (int i = 0; i < op.n_access; ++i)
    for (const Left& left : all())
      if (left.is_before(op.access(i))) return true;
  return false;
}

void leave_queued(Op& op) {
  Left left;
  for (int i = 0; i < op.n_access; ++i) {
    Storage* s = op.access(i).storage;
    if (op.access(i).mode == Mode::read)
      left.read.push_back(s);
    else
      left.written.push_back(s);
  }
  leave_queued(std::move(left.written), std::move(left.read));
}

void leave_queued(std::vector<Storage*> written, std::vector<const Storage*> read) {
  for (Storage* s : written) s->retain();
  all().push_back({std::move(written), std::move(read)});
}

void AnnouncedWait::begin() {
  if (lane_ || !between_ranks || all().empty()) return;
  forget_ended();
  if (all().empty()) return;
  lane_ = between_ranks;
  lane_->thread_waits(true);
}

}  // namespace forerun
