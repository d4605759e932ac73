// Memory of the operating system.
#pragma once
#include <cstddef>
#include <cstdlib>

#if defined(__GLIBC__) || defined(_WIN32)
#include <malloc.h>
#endif

namespace forerun {

// A block of the heap at an address that is a multiple of `alignment`; `bytes` must be a multiple of it as well. Null:
// out of memory.
inline char* aligned_block(size_t alignment, size_t bytes) {
#ifdef _WIN32
  return static_cast<char*>(_aligned_malloc(bytes, alignment));
#else
  return static_cast<char*>(std::aligned_alloc(alignment, bytes));
#endif
}
inline void free_aligned(char* block) {
#ifdef _WIN32
  _aligned_free(block);
#else
  std::free(block);
#endif
}

// Gives freed memory of the heap back to the system, where the C library would keep it.
inline void trim_heap() {
#if defined(__GLIBC__)
  malloc_trim(0);
#elif defined(_WIN32)
  _heapmin();
#endif
}

// Pages of zeros, allocated by the system when they are first used: huge ones, if it has them. Null: out of memory.
char* map_pages(size_t bytes);
// `bytes`: the size with which they were mapped.
void unmap_pages(char* pages, size_t bytes);
// Gives the memory of some of the pages back; they are zeros from now on. False: the system has no such call, and
// nothing has changed.
bool discard_pages(char* pages, size_t bytes);

}  // namespace forerun
