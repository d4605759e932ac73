// Blocks of host memory, kept when they are given back: fresh pages cost more than most operations on them.
#pragma once
#include <cstddef>
#include <mutex>
#include <vector>

namespace forerun {

// One for all CPU devices. Sizes are rounded up to classes (at most an eighth more); blocks of 1 MiB and more are mapped for
// themselves on huge pages. Any thread.
class MemoryCache {
 public:
  static MemoryCache& get();
  char* take(size_t bytes);             // null: none to be had, even with the cache emptied
  void give(char* data, size_t bytes);  // bytes as asked for
  size_t trim(size_t keep = 0);         // gives cached blocks back to the system, largest first; returns how much
  size_t cached() const { return cached_; }
  void set_limit(size_t bytes) { limit_ = bytes; }  // of what is cached
  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }

 private:
  static constexpr int kClasses = 64 * 8;
  std::mutex mutex_;
  std::vector<char*> free_[kClasses];  // guarded by mutex_
  size_t cached_ = 0;                  // likewise
  size_t limit_ = size_t{4} << 30;
};

}  // namespace forerun
