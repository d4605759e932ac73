// Blocks of host memory, cached when they are freed: fresh pages cost more than most operations on them.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <thread>

#include "memory/registered_blocks.h"

namespace forerun {

// One for all CPU devices. Sizes are rounded up to classes (at most an eighth more); blocks of 1 MiB and more have
// separate mappings of huge pages. Any thread.
// Two limits: on cached memory, and on cached and used memory together. Over the first, blocks of the sizes that have
// not been requested for the longest are released; over the second, cached blocks are released for a fresh one, which
// is never refused.
class CachingAllocator {
 public:
  static CachingAllocator& get();
  char* take(size_t bytes);             // null: out of memory, even with the cache emptied
  void give(char* data, size_t bytes);  // the bytes that take() was called with
  size_t trim(size_t keep = 0);         // gives cached blocks back to the system; returns how many bytes
  size_t cached() const;
  // Registers the block for faster copies by a device, if it has a mapping of its own, until it is released to the
  // system. To be called before each copy. Not while the block is given back.
  void register_block(char* data, size_t bytes, const MemoryRegistrar& registrar);
  size_t in_use() const;  // bytes of blocks taken and not given back, rounded up
  void set_limits(size_t cached, size_t total);
  void before_fork() { mutex_.lock(), RegisteredBlocks::get().before_fork(); }
  void after_fork(bool child) { RegisteredBlocks::get().after_fork(child), mutex_.unlock(); }

 private:
  static constexpr int kClasses = 64 * 8;
  // An unused block. For a small block it is stored in the block's first bytes, so that caching needs no memory.
  struct Idle {
    Idle* next;
    size_t bytes;
    char* data;
  };
  static Idle* remember(char* data, size_t bytes);
  static char* forget(Idle* block);
  struct Class {
    Idle* first = nullptr;
    uint64_t used = 0;  // when a block of this class was last requested, in calls of take()
  };
  // Takes blocks off the lists until at most `keep` bytes are cached; the caller releases them to the system without
  // the lock.
  Idle* shrink(size_t keep);
  static size_t release(Idle* first);

  // A spin lock, held for some instructions: a small array's allocation costs less than a mutex.
  class Lock {
   public:
    void lock() {
      while (taken_.exchange(true, std::memory_order_acquire))
        while (taken_.load(std::memory_order_relaxed)) std::this_thread::yield();
    }
    void unlock() { taken_.store(false, std::memory_order_release); }

   private:
    std::atomic<bool> taken_{false};
  };
  mutable Lock mutex_;
  Class classes_[kClasses];  // the rest is guarded by mutex_
  uint64_t taken_ = 0;       // calls of take()
  size_t cached_ = 0, in_use_ = 0;
  size_t limit_ = size_t{4} << 30, total_ = SIZE_MAX;
};

// A block of the cache, held while the object lives. The constructor throws std::bad_alloc.
class CachedRoom {
 public:
  explicit CachedRoom(size_t bytes) : data_(CachingAllocator::get().take(bytes)), bytes_(bytes) {
    if (!data_) throw std::bad_alloc();
  }
  CachedRoom(const CachedRoom&) = delete;
  ~CachedRoom() { CachingAllocator::get().give(data_, bytes_); }
  char* data() const { return data_; }

 private:
  char* data_;
  size_t bytes_;
};

}  // namespace forerun
