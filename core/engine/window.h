// Where issued ops stand until they have ended: a ring of slots, by number.
#pragma once
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace forerun {

class Op;

class Window {
 public:
  // While it is empty. `size` is a power of two.
  void resize(uint64_t size) {
    // Pages of zeros, which cost nothing before they are used.
    auto* slots = static_cast<std::atomic<Op*>*>(std::calloc(size, sizeof(std::atomic<Op*>)));
    if (!slots) throw std::bad_alloc();
    slots_.reset(slots);
    size_ = size;
  }
  uint64_t size() const { return size_; }
  std::atomic<Op*>& operator[](uint64_t seq) const { return slots_[seq & (size_ - 1)]; }
  // Of an op that is planned and has not ended.
  Op* op(uint64_t seq) const { return (*this)[seq].load(std::memory_order_relaxed); }

 private:
  struct Free {
    void operator()(std::atomic<Op*>* slots) const { std::free(slots); }
  };
  std::unique_ptr<std::atomic<Op*>[], Free> slots_;
  uint64_t size_ = 0;
};

}  // namespace forerun
