// Who is told that writes have ended: threads that sleep until then, and event loops that poll a bell.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "engine/bell.h"
#include "engine/storage.h"

namespace forerun {

// Until when a thread waits. The time counts from the first look at the clock, which short waits need not pay for.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Deadline(std::chrono::milliseconds limit) : limit_(limit) {}
  bool passed() {
    auto now = Clock::now();
    if (at_ == Clock::time_point{}) at_ = now + limit_;
    return now >= at_;
  }
  Clock::time_point at() const { return at_; }  // once passed() has been asked

 private:
  const std::chrono::milliseconds limit_;
  Clock::time_point at_{};
};

class Notifier {
 public:
  // --- Any thread, without the engine's lock ---
  // False: all writes submitted so far have ended, and nobody will be told.
  bool watch(Watcher& watcher, Storage& storage, Bell& bell);
  void unwatch(Watcher& watcher);
  size_t take_told(Bell& bell, Watcher** told, size_t most);  // in the order in which the writes ended
  void forget(Bell& bell);
  bool has_watchers() const { return watching_.load() > 0; }  // that are still to be told

  // How often sleeping threads have been told to look again.
  uint64_t told() const { return told_.load(); }
  // Asks, in sleep(), to be told when all ops before `mark` have ended.
  void arm(uint64_t mark);
  // A thread sleeps until `done`, or something has been told since `told`, or the deadline; the two calls with the lock
  // of this class. `arm` asks to be told.
  enum class Woken { done, told, late };
  template <class Done, class Arm>
  Woken sleep(uint64_t told, Done done, Arm arm, Deadline& deadline) {
    std::unique_lock held(mutex_);
    arm();
    if (done()) return Woken::done;
    // Told to look since the last look for work: without workers nobody else would take what there is now.
    const bool late =
        deadline.passed() || (told == told_.load() && wake_.wait_until(held, deadline.at()) == std::cv_status::timeout);
    return done() ? Woken::done : late ? Woken::late : Woken::told;
  }
  // All that sleep look again, and bells ring.
  void notify();

  // --- With the engine's lock ---
  // A write of the storage has ended, and somebody sleeps for it or is to be told. Bells ring later, without the lock.
  void write_ended(Storage& storage);
  void front_is(uint64_t front);
  void make_due() { due_ = true; }
  bool due() const { return due_; }
  bool take_due() { return std::exchange(due_, false); }  // then notify() must follow, without the lock

  void before_fork() { mutex_.lock(); }
  void after_fork(bool child);

 private:
  void ring_bells();

  bool due_ = false;  // somebody sleeps for something that has ended; guarded by the engine's lock
  // A thread may take this lock while it holds the engine's, never the other way round.
  std::mutex mutex_;
  std::condition_variable wake_;
  Bell* to_ring_ = nullptr;
  std::atomic<int> watching_{0};            // written with mutex_
  std::atomic<uint64_t> told_{0};           // written with mutex_
  std::atomic<uint64_t> mark_{UINT64_MAX};  // somebody sleeps until the front reaches it
};

}  // namespace forerun
