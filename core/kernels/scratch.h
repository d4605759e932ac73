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
  thread_local std::unique_ptr<char, Free> own;
  thread_local size_t size = 0;
  if (bytes > size) {
    size_t rounded = (bytes + 4095) / 4096 * 4096;
    size = 0;
    own.reset(static_cast<char*>(std::aligned_alloc(4096, rounded)));
    if (!own) throw std::bad_alloc();
    size = rounded;
  }
  return own.get();
}

}  // namespace forerun
