// What headers and the libstdc++.a of newer systems ask of the C library beyond glibc 2.28: tools/wheels.py links it
// into the wheels.
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>

// "There may be other threads": counters of references are then always counted atomically.
char __libc_single_threaded = 0;

// From 2.30 on. The same moment on the clock that pthread_cond_timedwait knows, as libstdc++ itself does without it.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(condition, mutex, until);
  struct timespec here, real;
  clock_gettime(clock, &here);
  clock_gettime(CLOCK_REALTIME, &real);
  real.tv_sec += until->tv_sec - here.tv_sec;
  real.tv_nsec += until->tv_nsec - here.tv_nsec;
  if (real.tv_nsec < 0) real.tv_sec--, real.tv_nsec += 1000000000;
  if (real.tv_nsec >= 1000000000) real.tv_sec++, real.tv_nsec -= 1000000000;
  return pthread_cond_timedwait(condition, mutex, &real);
}

// From 2.33 on; before, calls that name the layout of the struct.
#ifdef __x86_64__
enum { kLayout = 1 };
#else
enum { kLayout = 0 };
#endif
int __fxstat64(int layout, int file, struct stat64* result);
int fstat64(int file, struct stat64* result) { return __fxstat64(kLayout, file, result); }
int __xstat(int layout, const char* path, struct stat* result);
int stat(const char* path, struct stat* result) { return __xstat(kLayout, path, result); }
int __lxstat(int layout, const char* path, struct stat* result);
int lstat(const char* path, struct stat* result) { return __lxstat(kLayout, path, result); }

// From 2.34 on in the shared library; before, a part of each library that uses it.
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void* library);
extern void* __dso_handle;
int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
  return __register_atfork(prepare, parent, child, &__dso_handle);
}
