// To be preloaded: refuses memory and threads to C++ code when told to. Python's own allocations go another way.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>

#include <cerrno>

#include "../../core/tests/refuse.h"

bool refusal::exempt() { return false; }

namespace {

template <class F>
F* next(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

// The n-th request from now is refused, and after each `period` others one more; negative: none.
void refuse_from(long n, long period) { refusal::from(n, period); }
// No more; returns how many have been refused since the last call.
long refuse_nothing() {
  refusal::stop();
  return refusal::refused.exchange(0);
}

void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
  static auto* real = next<void*(void*, size_t, int, int, int, off_t)>("mmap");
  if (size >= (1 << 20) && (flags & MAP_ANONYMOUS) && refusal::refuse()) return errno = ENOMEM, MAP_FAILED;
  return real(at, size, protection, flags, file, offset);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  static auto* real = next<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return refusal::refuse() ? EAGAIN : real(thread, attributes, start, argument);
}

}  // extern "C"
