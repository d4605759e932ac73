// Objects that are used again and again: taken mostly by one thread, given back by another.
#pragma once
#include <atomic>

namespace forerun {

// T has a member `T* next_free`. Giving back pushes onto a shared stack; a thread whose own stack is empty takes the
// shared one whole, which leaves no room for the ABA problem. One list per type: the stacks are static.
// Modelled in tests/model/free_list.py.
template <class T>
class FreeList {
 public:
  // An object used before, as it was given back; null if there is none.
  static T* take() {
    if (!mine_.first && !(mine_.first = shared_.exchange(nullptr, std::memory_order_acquire))) return nullptr;
    T* object = mine_.first;
    mine_.first = object->next_free;
    return object;
  }
  static void give(T* object) {
    object->next_free = shared_.load(std::memory_order_relaxed);
    while (!shared_.compare_exchange_weak(object->next_free, object, std::memory_order_release, std::memory_order_relaxed)) {
    }
  }

 private:
  struct Mine {
    T* first = nullptr;
    ~Mine() {  // the thread ends: others may use what it had left
      while (first) {
        T* next = first->next_free;
        give(first);
        first = next;
      }
    }
  };
  static inline thread_local Mine mine_;
  static inline std::atomic<T*> shared_{nullptr};
};

}  // namespace forerun
