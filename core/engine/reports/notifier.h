// Notifies threads that sleep until writes have ended, and event loops, by completion queues.
//
//   CompletionQueue queue(engine.notifier);                // one per event loop, which polls queue.descriptor()
//   engine.watch(completion, storage, queue);              // false: nothing to wait for
//   engine.notifier.pop_completed(queue, completed, 100);  // the descriptor is readable: pops the complete ones
//   engine.notifier.unwatch(completion);                   // any time before one of the three is destroyed
//
// However many results a loop needs, no thread waits. A completion costs nothing while it is in its lists: the end of a
// write examines the completions of its own storage alone, and no more of them than are complete.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "base/system/descriptors.h"
#include "engine/operations/storage.h"
#include "engine/sync/completion.h"

namespace forerun {

// The deadline of a wait. The time counts from the first read of the clock, which short waits avoid.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Deadline(std::chrono::microseconds limit) : limit_(limit) {}
  bool passed() {
    auto now = Clock::now();
    if (at_ == Clock::time_point{}) at_ = now + limit_;
    return now >= at_;
  }
  Clock::time_point at() const { return at_; }  // valid once passed() has been called

 private:
  const std::chrono::microseconds limit_;
  Clock::time_point at_{};
};

class Notifier {
 public:
  // --- Any thread, without the engine's lock ---
  // False: all writes submitted so far have ended, and nothing will be pushed to the queue.
  bool watch(Completion& completion, Storage& storage, CompletionQueue& queue);
  void unwatch(Completion& completion);
  // Pops complete ones, `most` at most, in the order in which the writes ended; returns their number.
  size_t pop_completed(CompletionQueue& queue, Completion** completed, size_t most);
  bool has_watchers() const { return watching_.load() > 0; }  // completions that are still to come

  // How often sleeping threads have been notified.
  uint64_t notifications() const { return notifications_.load(); }
  // Asks, in sleep(), for a notification when all ops before `mark` have ended.
  void arm(uint64_t mark);
  // Sleeps until `done`, a notification later than `notifications`, or the deadline; `done` and `arm` are called with
  // the lock of this class. `arm` asks for a notification.
  enum class Woken { done, notified, late };
  template <class Done, class Arm>
  Woken sleep(uint64_t notifications, Done done, Arm arm, Deadline& deadline) {
    std::unique_lock held(mutex_);
    arm();
    if (done()) return Woken::done;
    // If notified since it last looked for work, it looks again: without workers no other thread takes the work.
    const bool late = deadline.passed() || (notifications == notifications_.load() &&
                                            wake_.wait_until(held, deadline.at()) == std::cv_status::timeout);
    return done() ? Woken::done : late ? Woken::late : Woken::notified;
  }
  // Wakes all sleeping threads, which check their conditions, and makes completion queues readable.
  void notify();

  // --- With the engine's lock ---
  // A write of the storage has ended for which a thread sleeps, or which an event loop awaits. Queues become readable
  // later, without the lock.
  void write_ended(Storage& storage);
  void front_is(uint64_t front);
  void make_due() { due_ = true; }
  bool due() const { return due_; }
  bool take_due() { return std::exchange(due_, false); }  // then notify() must follow, without the lock

  void before_fork() { mutex_.lock(); }
  void after_fork(bool child);

 private:
  friend class CompletionQueue;
  void forget(CompletionQueue& queue);
  void make_readable();

  bool due_ = false;  // a thread sleeps for something that has ended; guarded by the engine's lock
  // A thread may take this lock while it holds the engine's, never the other way round.
  std::mutex mutex_;
  std::condition_variable wake_;
  CompletionQueue* unread_ = nullptr;       // queues that are to become readable
  std::atomic<int> watching_{0};            // written with mutex_
  std::atomic<uint64_t> notifications_{0};  // written with mutex_
  std::atomic<uint64_t> mark_{UINT64_MAX};  // a thread sleeps until the front reaches it
};

// A descriptor that is readable while completions can be popped. Owned by the front end; no completion may be watched
// for it when it is destroyed.
class CompletionQueue {
 public:
  explicit CompletionQueue(Notifier& notifier) : notifier_(notifier) {}
  ~CompletionQueue();
  CompletionQueue(const CompletionQueue&) = delete;
  int descriptor() const { return wake_up_.descriptor(); }

 private:
  friend class Notifier;

  Notifier& notifier_;
  // This and the fields below are guarded by the notifier's lock. While `complete_` is not empty, the descriptor is
  // readable or is about to become so.
  WakeUp wake_up_;
  CompletionList complete_;
  CompletionQueue* next_ = nullptr;  // in Notifier::unread_, while
  bool unread_ = false;
};

}  // namespace forerun
