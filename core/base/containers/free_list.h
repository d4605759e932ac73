// Objects that are reused: taken mostly by one thread, given back by another.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "base/system/memory.h"

namespace forerun {

// T has a member `T* next_free`. A thread collects the objects that it frees and reuses them itself; a full batch is
// pushed onto a shared stack. A thread without free objects takes the whole shared stack, which excludes the ABA
// problem, keeps a batch of it, and puts the rest back. So no thread holds more than two batches: programs may have
// very many short-lived threads, and other threads would otherwise allocate new objects. One list per type: the stacks
// are static.
//
// The shared stack holds kKeep objects at most: the surplus of a burst goes back to the allocator at once. trim() gives
// back the rest, except the batches of other threads. Modelled in verification/models/free_list.py.
template <class T>
class FreeList {
 public:
  // 8 MiB of objects: more than a loop that runs ahead has in flight, and little compared with the arrays.
  static constexpr uint32_t kBatch = 32;
  static constexpr uint64_t kKeep = std::min<uint64_t>((size_t{8} << 20) / sizeof(T), 65535) / kBatch * kBatch;
  static_assert(kKeep > 0);

  // A used object, in the state in which it was given back; null if no object is free.
  static T* take() {
    Mine& mine = this_thread();
    if (mine.given) {  // first, for it is in the cache
      mine.count(1);
      return mine.pop_given();
    }
    if (!mine.first && !(mine.first = take_shared())) return nullptr;
    T* object = mine.first;
    mine.first = object->next_free;
    mine.count(1);
    return object;
  }
  // Counts `object`, allocated because take() returned null, as in use.
  static T* made(T* object) {
    this_thread().count(1);
    return object;
  }
  static void give(T* object) {
    Mine& mine = this_thread();
    mine.count(-1);
    mine.push_given(object);
    if (mine.n_given == kBatch) mine.flush();
  }

  // How many objects are in use: taken or made, and not given back. Exact while no other thread takes or gives.
  static int64_t in_use() {
    int64_t sum = 0;
    for (Count* c = counts_.load(std::memory_order_acquire); c; c = c->next)
      sum += c->in_use.load(std::memory_order_relaxed);
    return sum;
  }
  // Gives the objects on the shared stack and in this thread's batches to the allocator; returns the number of bytes.
  static size_t trim() {
    size_t bytes = drop(shared_.exchange(nullptr, std::memory_order_acquire));
    kept_.fetch_sub(static_cast<int64_t>(bytes / sizeof(T)), std::memory_order_relaxed);
    Mine& mine = this_thread();
    bytes += drop(std::exchange(mine.first, nullptr));
    mine.n_given = 0;
    return bytes + drop(std::exchange(mine.given, nullptr));
  }

 private:
  // The objects that one thread took, less those that it freed, including the threads that had the count before it.
  // Never freed: a new thread reuses the count of a thread that has ended.
  struct alignas(64) Count {
    std::atomic<int64_t> in_use{0};  // written by the owner alone
    std::atomic<bool> owned{true};
    Count* next = nullptr;  // fixed once it is in counts_
  };
  static Count* claim() {
    for (Count* c = counts_.load(std::memory_order_acquire); c; c = c->next)
      if (!c->owned.load(std::memory_order_relaxed) && !c->owned.exchange(true, std::memory_order_acquire))
        return c;  // sees the writes of the last owner
    auto* c = new (std::nothrow) Count;
    if (!c) return &first_;  // shared with its owner: an update may be lost if both count at once
    c->next = counts_.load(std::memory_order_relaxed);
    while (!counts_.compare_exchange_weak(c->next, c, std::memory_order_release, std::memory_order_relaxed)) {
    }
    return c;
  }
  struct Mine {
    T* first = nullptr;               // the batch taken from the shared stack, or its rest
    T *given = nullptr, *last_given;  // the batch: n_given objects, the last one given first; fewer than kBatch
    uint32_t n_given = 0;
    Count* const counted = claim();
    void count(int64_t by) {
      counted->in_use.store(counted->in_use.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
    }
    void push_given(T* object) {
      if (!given) last_given = object;
      object->next_free = std::exchange(given, object);
      ++n_given;
    }
    T* pop_given() {
      --n_given;
      return std::exchange(given, given->next_free);
    }
    void flush() {
      if (given) push(std::exchange(given, nullptr), last_given, std::exchange(n_given, 0));
    }
    ~Mine() {  // the thread ends: other threads may use its batches
      flush();
      uint32_t n = 1;
      T* last = first;
      for (; last && last->next_free; ++n) last = last->next_free;
      if (first) push(std::exchange(first, nullptr), last, n);
      counted->owned.store(false, std::memory_order_release);
    }
  };

  // The pointer is read without a check whether the thread has used the list before.
  static Mine& this_thread() { return *(known_ ? known_ : known_ = &mine_); }

  static constexpr size_t kTrimAfter = size_t{64} << 20;
  static inline std::atomic<size_t> deleted_{0};  // bytes

  static T* take_shared() {
    T* first = shared_.exchange(nullptr, std::memory_order_acquire);
    if (!first) return nullptr;
    T* last = first;
    int64_t n = 1;
    for (; n < kBatch && last->next_free; ++n) last = last->next_free;
    kept_.fetch_sub(n, std::memory_order_relaxed);
    if (T* rest = std::exchange(last->next_free, nullptr)) put_back(rest);
    return first;
  }
  // Puts back the rest of the stack that was taken. Few batches have been pushed since then: their end is searched for,
  // and they go on top.
  static void put_back(T* rest) {
    T* others = shared_.exchange(rest, std::memory_order_acq_rel);
    if (!others) return;
    T* last = others;
    while (last->next_free) last = last->next_free;
    put_on_top(others, last);
  }
  // A chain of n objects.
  static void push(T* first, T* last, uint32_t n) {
    if (kept_.load(std::memory_order_relaxed) + n > static_cast<int64_t>(kKeep)) {
      last->next_free = nullptr;
      // Allocators cannot return freed memory below memory that is still used; after a burst much is free.
      size_t bytes = drop(first), before = deleted_.fetch_add(bytes, std::memory_order_relaxed);
      if (before / kTrimAfter != (before + bytes) / kTrimAfter) trim_heap();
      return;
    }
    kept_.fetch_add(n, std::memory_order_relaxed);
    put_on_top(first, last);
  }
  static void put_on_top(T* first, T* last) {
    last->next_free = shared_.load(std::memory_order_relaxed);
    while (
        !shared_.compare_exchange_weak(last->next_free, first, std::memory_order_release, std::memory_order_relaxed)) {
    }
  }
  static size_t drop(T* first) {
    size_t bytes = 0;
    while (first) {
      delete std::exchange(first, first->next_free);
      bytes += sizeof(T);
    }
    return bytes;
  }

  static inline Count first_{{0}, {false}, nullptr};
  static inline std::atomic<Count*> counts_{&first_};
  static inline std::atomic<T*> shared_{nullptr};
  static inline std::atomic<int64_t> kept_{
      0};  // on the shared stack, and those that threads are about to push or put back
  static inline thread_local Mine mine_;
  static constinit inline thread_local Mine* known_ = nullptr;
};

}  // namespace forerun
