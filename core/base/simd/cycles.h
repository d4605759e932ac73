// The processor's clock and its hint for loops that wait.
#pragma once
#include <cstdint>
#include <thread>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace forerun {

// Ticks of a clock that is cheap to read and never goes back: about a processor's cycles.
inline uint64_t cycles() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
#error "cycles: this processor's clock must be named here"
#endif
}

// Tells the processor that a loop waits, `n` times.
inline void pause(int n = 1) {
  for (int i = 0; i < n; ++i) {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
}

// Waits for some cycles and lets other threads on the same core run meanwhile.
inline void pass(uint64_t ticks) {
  std::this_thread::yield();
  for (uint64_t start = cycles(); cycles() - start < ticks;) pause();
}

}  // namespace forerun
