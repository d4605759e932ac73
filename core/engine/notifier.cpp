#include "engine/notifier.h"

#include <new>
#include <utility>

namespace forerun {

namespace {

bool reached(const Storage& storage, uint32_t target) {
  return static_cast<int32_t>(storage.ended.load() - target) >= 0;
}

}  // namespace

// With DependencyGraph::end_one() modelled in tests/model/completion.py. No end of a write is missed. The watcher is in
// the list, and `watched` is set, before `ended` is looked at; who ends a write counts it in `ended` before it looks at
// `watched` (all four seq_cst). So either the look here sees the end, or the end sees the mark, and then write_ended(),
// which waits for this lock, finds the watcher.
bool Notifier::watch(Watcher& watcher, Storage& storage, Bell& bell) {
  std::lock_guard held(mutex_);
  // Writes are only ever added, and this is read with the lock: targets ascend along the list.
  watcher.storage = &storage, watcher.bell = &bell, watcher.target = storage.issued.load();
  storage.watchers.push(watcher);
  storage.watched.store(true);
  if (!reached(storage, watcher.target)) {
    watching_.fetch_add(1);
    return true;
  }
  storage.watchers.remove(watcher);
  watcher.failure = storage.failure_in(watcher.region);  // nothing writes the storage now
  return false;
}

void Notifier::unwatch(Watcher& watcher) {
  std::lock_guard held(mutex_);
  if (!watcher.list) return;
  watching_.fetch_sub(watcher.list == &watcher.storage->watchers);
  watcher.list->remove(watcher);
}

void Notifier::write_ended(Storage& storage) {
  std::lock_guard held(mutex_);
  for (Watcher* w; (w = storage.watchers.first()) && reached(storage, w->target);) {
    storage.watchers.remove(*w);
    watching_.fetch_sub(1);
    w->failure = storage.failure_in(w->region);  // which the engine's lock guards
    bool rung = !w->bell->told_.empty();         // and nobody has come yet
    w->bell->told_.push(*w);
    if (rung || std::exchange(w->bell->to_ring_, true)) continue;
    w->bell->next_ = std::exchange(to_ring_, w->bell);
  }
  if (storage.watchers.empty()) storage.watched.store(false);  // threads that sleep set it again when they have looked
  due_ = true;
}

void Notifier::front_is(uint64_t front) {
  if (front >= mark_.load()) mark_.store(UINT64_MAX), due_ = true;
}

void Notifier::arm(uint64_t mark) {
  uint64_t other = mark_.load();
  while (mark < other && !mark_.compare_exchange_weak(other, mark)) {
  }
}

void Notifier::notify() {
  std::lock_guard held(mutex_);
  told_.fetch_add(1);
  wake_.notify_all();
  ring_bells();
}

void Notifier::ring_bells() {
  while (Bell* bell = to_ring_) {
    to_ring_ = bell->next_;
    bell->to_ring_ = false;
    if (!bell->told_.empty()) bell->ring();
  }
}

size_t Notifier::take_told(Bell& bell, Watcher** told, size_t most) {
  std::lock_guard held(mutex_);
  size_t n = 0;
  for (Watcher* w; n < most && (w = bell.told_.first()); told[n++] = w) bell.told_.remove(*w);
  if (bell.told_.empty()) bell.silence();
  return n;
}

void Notifier::forget(Bell& bell) {
  std::lock_guard held(mutex_);
  for (Bell** at = &to_ring_; *at; at = &(*at)->next_)
    if (*at == &bell) {
      *at = bell.next_;
      return;
    }
}

// Sleeping threads of the parent are not there to be woken; a condition variable on which they sleep must not be
// destroyed.
void Notifier::after_fork(bool child) {
  if (child) {
    new (&wake_) std::condition_variable;
    mark_.store(UINT64_MAX);
  }
  mutex_.unlock();
}

}  // namespace forerun
