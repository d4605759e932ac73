// operator new and aligned_alloc that can be made to fail: for one source file of a program, or a library to be
// preloaded.
#pragma once
#include <atomic>
#include <cstdlib>
#include <new>

namespace refusal {

inline std::atomic<long> left{-1};   // requests that are granted before one is refused; negative: all are granted
inline std::atomic<long> again{-1};  // the next value of `left`
inline std::atomic<long> refused{0};

// The n-th request is refused, then one more after each `period` requests; negative: none.
inline void from(long n, long period) { again.store(period), left.store(n); }
inline void stop() { again.store(-1), left.store(-1); }

bool exempt();  // whether the thread is outside of the test: its requests never fail

inline bool refuse() {
  if (exempt() || left.load() < 0 || left.fetch_sub(1) != 0) return false;
  left.store(again.load());
  refused.fetch_add(1);
  return true;
}

}  // namespace refusal

#pragma GCC diagnostic ignored "-Wmismatched-new-delete"  // they match: all of them are here
void* operator new(size_t size) {
  void* memory = refusal::refuse() ? nullptr : std::malloc(size ? size : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return refusal::refuse() ? nullptr : std::malloc(size ? size : 1);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
extern "C" void* aligned_alloc(size_t alignment, size_t size) {
  void* memory = nullptr;
  return refusal::refuse() || posix_memalign(&memory, alignment, size) != 0 ? nullptr : memory;
}
