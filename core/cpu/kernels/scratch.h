// Scratch memory of a thread, used while a tile is computed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "base/system/memory.h"

namespace forerun {

// The owner of its contents: the op, and the part of it. No op has number 0.
struct ScratchOwner {
  uint64_t op = 0;
  int64_t part = 0;
};
struct Scratch {
  char* data;
  bool kept;  // the contents that the same owner left the last time are still there
};

// At least `bytes`, on a cache line; valid until the thread asks again. Throws std::bad_alloc.
inline Scratch scratch_of(ScratchOwner owner, size_t bytes) {
  struct Free {
    void operator()(char* p) const { free_aligned(p); }
  };
  struct Room {
    std::unique_ptr<char, Free> data;
    size_t size = 0;
    ScratchOwner last;
  };
#if defined(__SANITIZE_ADDRESS__)
  constexpr size_t unit = 64;  // allocated anew each time, so that sanitizers find writes beyond the end
#else
  constexpr size_t unit = 4096;
#endif
  thread_local Room own;
  const bool kept = owner.op != 0 && owner.op == own.last.op && owner.part == own.last.part && bytes <= own.size;
  own.last = owner;
  if (bytes > own.size || (unit == 64 && !kept)) {
    size_t rounded = (bytes + unit - 1) / unit * unit;
    own.size = 0;
    own.data.reset(aligned_block(unit, rounded));
    if (!own.data) throw std::bad_alloc();
    own.size = rounded;
  }
  return {own.data.get(), kept};
}
inline char* scratch(size_t bytes) { return scratch_of({}, bytes).data; }

}  // namespace forerun
