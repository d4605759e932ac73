// Watchers: who is told when writes of a storage have ended, and the bells that call event loops.
#include "engine/bell.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/engine.h"

namespace forerun {

namespace {

bool reached(const Storage& storage, uint32_t target) {
  return static_cast<int32_t>(storage.ended.load() - target) >= 0;
}

}  // namespace

Bell::Bell() : descriptor_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (descriptor_ < 0)
    throw Error(ErrorKind::runtime,
                std::string("await: an eventfd must be there to be had, got: ") + std::strerror(errno));
}

Bell::~Bell() {
  Engine::get().forget(*this);
  close(descriptor_);
}

// Never blocks: the counter is far from full, as it is read before it is written again.
void Bell::ring() {
  uint64_t one = 1;
  [[maybe_unused]] auto written = write(descriptor_, &one, sizeof one);
}

void Bell::silence() {
  uint64_t count;
  [[maybe_unused]] auto got = read(descriptor_, &count, sizeof count);
}

// No end of a write is missed. The watcher is in the list, and `watched` is set, before `ended` is looked at; who ends
// a write counts it in `ended` before it looks at `watched` (all four seq_cst). So either the look here sees the end,
// or the end sees the mark, and then tell(), which waits for this lock, finds the watcher.
bool Engine::watch(Watcher& watcher, Storage& storage, Bell& bell) {
  std::unique_lock held(watch_mutex_);
  // Writes are only ever added, and this is read with the lock: targets ascend along the list.
  watcher.storage = &storage, watcher.bell = &bell, watcher.target = storage.issued.load();
  storage.watchers.push(watcher);
  storage.watched.store(true);
  if (!reached(storage, watcher.target)) {
    watching_.fetch_add(1);
    held.unlock();
    if (stand_in_needed()) call_stand_in();
    return true;
  }
  storage.watchers.remove(watcher);
  watcher.failure = storage.failure_in(watcher.region);  // nothing writes the storage now
  return false;
}

void Engine::unwatch(Watcher& watcher) {
  std::lock_guard held(watch_mutex_);
  if (!watcher.list) return;
  watching_.fetch_sub(watcher.list == &watcher.storage->watchers);
  watcher.list->remove(watcher);
}

// A write of the storage has ended, and somebody sleeps for it or is to be told. With the engine's lock, which guards
// storage.failure; bells ring without it.
void Engine::tell(Storage& storage) {
  std::lock_guard held(watch_mutex_);
  for (Watcher* w; (w = storage.watchers.first()) && reached(storage, w->target);) {
    storage.watchers.remove(*w);
    watching_.fetch_sub(1);
    w->failure = storage.failure_in(w->region);
    bool rung = !w->bell->told_.empty();  // and nobody has come yet
    w->bell->told_.push(*w);
    if (rung || std::exchange(w->bell->to_ring_, true)) continue;
    w->bell->next_ = std::exchange(to_ring_, w->bell);
  }
  if (storage.watchers.empty()) storage.watched.store(false);  // threads that sleep set it again when they have looked
  notify_ = true;
}

void Engine::ring_bells() {
  while (Bell* bell = to_ring_) {
    to_ring_ = bell->next_;
    bell->to_ring_ = false;
    if (!bell->told_.empty()) bell->ring();
  }
}

size_t Engine::take_told(Bell& bell, Watcher** told, size_t most) {
  std::lock_guard held(watch_mutex_);
  size_t n = 0;
  for (Watcher* w; n < most && (w = bell.told_.first()); told[n++] = w) bell.told_.remove(*w);
  if (bell.told_.empty()) bell.silence();
  return n;
}

void Engine::forget(Bell& bell) {
  std::lock_guard held(watch_mutex_);
  for (Bell** at = &to_ring_; *at; at = &(*at)->next_)
    if (*at == &bell) {
      *at = bell.next_;
      return;
    }
}

// --- the stand-in
// ----------------------------------------------------------------------------------------------------------------- A
// thread that waits works in a worker's place; an event loop does not. A host task may wait for what a loop does after
// an await, or await something itself: if such tasks have all workers of a queue, one thread for the whole process
// works for those who are to be told, as a waiting thread would. Who awaits counts itself before it looks at the tasks,
// and the other way round (all seq_cst), so one of the two calls the stand-in.

void Engine::enter_task(Queue& queue) {
  if (queue.in_tasks.fetch_add(1) + 1 != queue.workers) return;
  in_tasks_.fetch_add(1);
  if (stand_in_needed()) call_stand_in();
}

void Engine::leave_task(Queue& queue) {
  if (queue.in_tasks.fetch_sub(1) == queue.workers) in_tasks_.fetch_sub(1);
}

void Engine::call_stand_in() {
  {
    Lock held = lock();
    if (!started_ || stopping_.load()) return;
    if (!stand_in_started_ && (stand_in_started_ = start_stand_in())) ++serving_;
  }
  wake_stand_in();
}

void Engine::wake_stand_in() {
  std::lock_guard held(watch_mutex_);
  stand_in_wake_.notify_one();
}

}  // namespace forerun
