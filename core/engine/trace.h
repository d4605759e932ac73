// What happened when: a bounded record of ops and waits, kept while somebody asks for it.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace forerun {

struct Event {
  enum class Kind : uint8_t { op, tile, wait } kind = Kind::op;
  uint64_t seq = 0;
  const char* name = "";  // outlives the record
  uint32_t site = 0;
  uint64_t thread = 0;    // who ran it (for an op of several tiles: the last of them), or waited
  int device = 0, queue = 0;
  double issued = 0, started = 0, ended = 0;  // seconds of a monotonic clock
  uint64_t bytes = 0;
  std::vector<uint64_t> depends;  // numbers of the ops whose results it read
  uint64_t group = 0;             // number of the first op of the group that it ran in; 0: alone
};

// Any thread.
class Trace {
 public:
  bool on() const { return on_.load(std::memory_order_relaxed); }
  void start(size_t capacity);
  std::vector<Event> stop();
  void add(Event event);  // dropped when the record is full, or there is no memory for more
  uint64_t dropped() const { return dropped_; }
  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }
  static double now();
  static uint64_t thread_number();  // small, in order of first use

 private:
  std::atomic<bool> on_{false};
  std::mutex mutex_;
  std::vector<Event> events_;  // guarded by mutex_
  size_t capacity_ = 0;
  uint64_t dropped_ = 0;
};

}  // namespace forerun
