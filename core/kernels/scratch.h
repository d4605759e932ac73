// Memory of a thread's own for the time that a tile is computed.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace forerun {

// At least `bytes`, on a cache line; good until the thread asks again. Throws std::bad_alloc.
inline char* scratch(size_t bytes) {
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
#if defined(__SANITIZE_ADDRESS__)
  constexpr size_t unit = 64;  // and each time anew, so that what is written beyond is found
#else
  constexpr size_t unit = 4096;
#endif
  thread_local std::unique_ptr<char, Free> own;
  thread_local size_t size = 0;
  if (bytes > size || unit == 64) {
    size_t rounded = (bytes + unit - 1) / unit * unit;
    size = 0;
    own.reset(static_cast<char*>(std::aligned_alloc(unit, rounded)));
    if (!own) throw std::bad_alloc();
    size = rounded;
  }
  return own.get();
}

}  // namespace forerun
