#include "engine/reports/notifier.h"

#include <fcntl.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/eventfd.h>
#endif

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace forerun {

// With DependencyGraph::end_one() modelled in verification/models/completion.py. No end of a write is missed. The
// watcher is in the list, and `watched` is set, before `ended` is looked at; who ends a write counts it in `ended`
// before it looks at `watched` (all four seq_cst). So either the look here sees the end, or the end sees the mark, and
// then write_ended(), which waits for this lock, finds the watcher.
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
  completion.failure = storage.failure_in(completion.region);  // nothing writes the storage now
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
  notifications_.fetch_add(1);
  wake_.notify_all();
  make_readable();
}

void Notifier::make_readable() {
  while (CompletionQueue* queue = unread_) {
    unread_ = queue->next_;
    queue->unread_ = false;
    if (!queue->complete_.empty()) queue->set_readable();
  }
}

size_t Notifier::pop_completed(CompletionQueue& queue, Completion** completed, size_t most) {
  std::lock_guard held(mutex_);
  size_t n = 0;
  for (Completion* c; n < most && (c = queue.complete_.first()); completed[n++] = c) queue.complete_.remove(*c);
  if (queue.complete_.empty()) queue.set_unreadable();
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

// Sleeping threads of the parent are not there to be woken; a condition variable on which they sleep must not be
// destroyed.
void Notifier::after_fork(bool child) {
  if (child) {
    new (&wake_) std::condition_variable;
    mark_.store(UINT64_MAX);
  }
  mutex_.unlock();
}

namespace {

// A descriptor to poll, and the one to write to that makes it readable: one eventfd, or the two ends of a pipe.
std::array<int, 2> wake_up_descriptors() {
#ifdef __linux__
  const int both = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (both >= 0) return {both, both};
#else
  std::array<int, 2> ends;
  if (pipe(ends.data()) == 0) {
    for (int end : ends) fcntl(end, F_SETFL, O_NONBLOCK), fcntl(end, F_SETFD, FD_CLOEXEC);
    return ends;
  }
#endif
  throw Error(ErrorKind::runtime,
              std::string("await: a descriptor must be there to be had, got: ") + std::strerror(errno));
}

}  // namespace

CompletionQueue::CompletionQueue(Notifier& notifier) : notifier_(notifier), descriptors_(wake_up_descriptors()) {}

CompletionQueue::~CompletionQueue() {
  notifier_.forget(*this);
  close(descriptors_[0]);
  if (descriptors_[1] != descriptors_[0]) close(descriptors_[1]);
}

// Never blocks: a counter is far from full, and a pipe that is full is readable.
void CompletionQueue::set_readable() {
  uint64_t one = 1;
  [[maybe_unused]] auto written = write(descriptors_[1], &one, sizeof one);
}

// The first read empties a counter; a pipe has what was written since the last time.
void CompletionQueue::set_unreadable() {
  uint64_t count;
  while (read(descriptors_[0], &count, sizeof count) > 0 && descriptors_[1] != descriptors_[0]) {
  }
}

}  // namespace forerun
