// To be preloaded: refuses memory and threads to C++ code when told to. Python's own allocations go another way.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> left{-1};   // requests that are granted before one is refused; negative: all are
std::atomic<long> again{-1};  // what `left` is then
std::atomic<long> refused{0};

bool refuse() {
  if (left.load() < 0 || left.fetch_sub(1) != 0) return false;
  left.store(again.load());
  refused.fetch_add(1);
  return true;
}

template <class F>
F* next(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

// The n-th request from now is refused, and after each `period` others one more; negative: none.
void refuse_from(long n, long period) {
  again.store(period);
  left.store(n);
}
// No more; returns how many have been refused since the last call.
long refuse_nothing() {
  left.store(-1);
  return refused.exchange(0);
}

void* aligned_alloc(size_t alignment, size_t size) {
  void* memory = nullptr;
  return refuse() || posix_memalign(&memory, alignment, size) != 0 ? nullptr : memory;
}
void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
  static auto* real = next<void*(void*, size_t, int, int, int, off_t)>("mmap");
  if (size >= (1 << 20) && (flags & MAP_ANONYMOUS) && refuse()) return errno = ENOMEM, MAP_FAILED;
  return real(at, size, protection, flags, file, offset);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  static auto* real = next<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return refuse() ? EAGAIN : real(thread, attributes, start, argument);
}

}  // extern "C"

void* operator new(size_t size) {
  void* memory = refuse() ? nullptr : std::malloc(size ? size : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}
void* operator new(size_t size, const std::nothrow_t&) noexcept { return refuse() ? nullptr : std::malloc(size ? size : 1); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
