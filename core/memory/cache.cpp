#include "memory/cache.h"

#include <sys/mman.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace forerun {

namespace {

constexpr size_t kHuge = size_t{2} << 20, kMapped = size_t{1} << 20, kAlign = 64;

// Eight classes for each power of two.
int size_class(size_t bytes) {
  if (bytes < kAlign) bytes = kAlign;
  int log = std::bit_width(bytes - 1);  // 2^(log-1) < bytes <= 2^log
  size_t step = (size_t{1} << log) / 16;
  return log * 8 + static_cast<int>((bytes - (size_t{1} << (log - 1)) + step - 1) / step) - 1;
}

size_t class_bytes(int c) {
  int log = c / 8;
  return (size_t{1} << (log - 1)) + static_cast<size_t>(c % 8 + 1) * ((size_t{1} << log) / 16);
}

char* from_system(size_t bytes) {
  if (bytes < kMapped) return static_cast<char*>(std::aligned_alloc(kAlign, (bytes + kAlign - 1) / kAlign * kAlign));
  // Mapped with room to cut a piece that starts on a huge page.
  size_t whole = bytes + kHuge;
  void* p = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  auto start = reinterpret_cast<uintptr_t>(p), at = (start + kHuge - 1) / kHuge * kHuge;
  size_t used = (bytes + 4095) / 4096 * 4096;
  if (at > start) munmap(p, at - start);
  if (start + whole > at + used) munmap(reinterpret_cast<void*>(at + used), start + whole - at - used);
  madvise(reinterpret_cast<void*>(at), used, MADV_HUGEPAGE);
  return reinterpret_cast<char*>(at);
}

void to_system(char* data, size_t bytes) {
  if (bytes < kMapped)
    std::free(data);
  else
    munmap(data, (bytes + 4095) / 4096 * 4096);
}

}  // namespace

MemoryCache& MemoryCache::get() {
  static MemoryCache* cache = new MemoryCache;  // never destroyed: blocks may come back at exit
  return *cache;
}

char* MemoryCache::take(size_t bytes) {
  int c = size_class(bytes);
  {
    std::lock_guard held(mutex_);
    if (!free_[c].empty()) {
      char* data = free_[c].back();
      free_[c].pop_back();
      cached_ -= class_bytes(c);
      return data;
    }
  }
  char* data = from_system(class_bytes(c));
  if (!data && trim() > 0) data = from_system(class_bytes(c));
  return data;
}

void MemoryCache::give(char* data, size_t bytes) {
  int c = size_class(bytes);
  {
    std::lock_guard held(mutex_);
    if (cached_ + class_bytes(c) <= limit_) try {
      free_[c].push_back(data);
      cached_ += class_bytes(c);
      return;
    } catch (const std::bad_alloc&) {  // not even for the list
    }
  }
  to_system(data, class_bytes(c));
}

size_t MemoryCache::trim(size_t keep) {
  std::lock_guard held(mutex_);
  size_t before = cached_;
  for (int c = kClasses - 1; c >= 0 && cached_ > keep; --c)
    for (; !free_[c].empty() && cached_ > keep; free_[c].pop_back(), cached_ -= class_bytes(c)) to_system(free_[c].back(), class_bytes(c));
  return before - cached_;
}

}  // namespace forerun
