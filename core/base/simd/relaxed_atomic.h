#pragma once
#include <atomic>

namespace forerun {

// A number that one thread writes while other threads, or another process, may read it.
template <class T>
class RelaxedAtomic {
 public:
  RelaxedAtomic() = default;
  RelaxedAtomic(const RelaxedAtomic& other) : value_(static_cast<T>(other)) {}
  RelaxedAtomic& operator=(const RelaxedAtomic& other) { return *this = static_cast<T>(other), *this; }
  void operator=(T value) { value_.store(value, std::memory_order_relaxed); }
  operator T() const { return value_.load(std::memory_order_relaxed); }
  void operator+=(T value) { *this = static_cast<T>(*this + value); }

 private:
  std::atomic<T> value_{};
};

}  // namespace forerun
