#include "engine/reports/failure_log.h"

#include <algorithm>
#include <utility>

namespace forerun {

namespace {

FailurePtr no_memory() {
  auto made = std::make_shared<Failure>();
  made->kind = ErrorKind::memory;
  made->message = "out of memory while reporting an error";
  return made;
}

}  // namespace

FailureLog::FailureLog(EngineMutex& mutex) : mutex_(mutex), no_memory_(no_memory()) { unseen_.reserve(kMostUnseen); }

void FailureLog::fail(Op& op, FailurePtr failure) {
  op.failure = failure;
  ++count_;
  if (unseen_.size() >= kMostUnseen) forget_seen();
  if (unseen_.size() < kMostUnseen)
    unseen_.push_back(std::move(failure));
  else
    unkept_->fetch_add(1), failure->unkept = unkept_;
}

void FailureLog::seen(const Failure& failure) {
  failure.see();
  FailurePtr kept;  // released without the lock: it may be the last reference
  Lock held = mutex_.lock();
  auto at = std::find_if(unseen_.begin(), unseen_.end(), [&](const FailurePtr& f) { return f.get() == &failure; });
  if (at == unseen_.end()) return;
  kept = std::move(*at);
  unseen_.erase(at);
}

FailureLog::Unseen FailureLog::take_unseen() {
  std::vector<FailurePtr> room;
  room.reserve(kMostUnseen);
  Lock held = mutex_.lock();
  forget_seen();
  Unseen taken{std::exchange(unseen_, std::move(room)), unkept_->load()};
  for (FailurePtr& f : taken.failures) f->see();
  unkept_ = std::make_shared<std::atomic<uint64_t>>(0);
  return taken;
}

void FailureLog::forget_seen() {
  std::erase_if(unseen_, [](const FailurePtr& f) { return f->seen.load(); });
}

}  // namespace forerun
