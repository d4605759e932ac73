#include "engine/reports/notifier.h"

#include <new>
#include <utility>

namespace forerun {

// With DependencyGraph::end_one() modelled in verification/models/completion.py. No end of a write is missed. The
// watcher is in the list, and `watched` is set, before `ended` is read; a thread that ends a write counts it in `ended`
// before it reads `watched` (all four seq_cst). So either this function sees the end, or the ending thread sees the
// mark, and then write_ended(), which waits for this lock, finds the watcher.
bool Notifier::watch(Completion& completion, Storage& storage, CompletionQueue& queue) {
  std::lock_guard held(mutex_);
  // Writes are only ever added, and this is read with the lock: targets ascend along the list.
  completion.storage = &storage, completion.queue = &queue, completion.target = storage.issued.load();
  storage.watchers.push(completion);
  storage.watched.store(true);
  if (!storage.has_ended(completion.target)) {
    watching_.fetch_add(1);
    return true;
  }
  storage.watchers.remove(completion);
  completion.failure = storage.failure_in(completion.region);  // no op writes the storage now
  return false;
}

void Notifier::unwatch(Completion& completion) {
  std::lock_guard held(mutex_);
  if (!completion.list) return;
  watching_.fetch_sub(completion.list == &completion.storage->watchers);
  completion.list->remove(completion);
}

void Notifier::write_ended(Storage& storage) {
  std::lock_guard held(mutex_);
  for (Completion* c; (c = storage.watchers.first()) && storage.has_ended(c->target);) {
    storage.watchers.remove(*c);
    watching_.fetch_sub(1);
    c->failure = storage.failure_in(c->region);  // which the engine's lock guards
    CompletionQueue& queue = *c->queue;
    const bool readable = !queue.complete_.empty();
    queue.complete_.push(*c);
    if (readable || std::exchange(queue.unread_, true)) continue;
    queue.next_ = std::exchange(unread_, &queue);
  }
  if (storage.watchers.empty()) storage.watched.store(false);  // sleeping threads set it again when they have checked
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
  notifications_.fetch_add(1);
  wake_.notify_all();
  make_readable();
}

void Notifier::make_readable() {
  while (CompletionQueue* queue = unread_) {
    unread_ = queue->next_;
    queue->unread_ = false;
    if (!queue->complete_.empty()) queue->wake_up_.set();
  }
}

size_t Notifier::pop_completed(CompletionQueue& queue, Completion** completed, size_t most) {
  std::lock_guard held(mutex_);
  size_t n = 0;
  for (Completion* c; n < most && (c = queue.complete_.first()); completed[n++] = c) queue.complete_.remove(*c);
  if (queue.complete_.empty()) queue.wake_up_.clear();
  return n;
}

void Notifier::forget(CompletionQueue& queue) {
  std::lock_guard held(mutex_);
  for (CompletionQueue** at = &unread_; *at; at = &(*at)->next_)
    if (*at == &queue) {
      *at = queue.next_;
      return;
    }
}

// The parent's sleeping threads do not exist in the child; a condition variable on which threads sleep must not be
// destroyed.
void Notifier::after_fork(bool child) {
  if (child) {
    new (&wake_) std::condition_variable;
    mark_.store(UINT64_MAX);
  }
  mutex_.unlock();
}

CompletionQueue::~CompletionQueue() { notifier_.forget(*this); }

}  // namespace forerun
