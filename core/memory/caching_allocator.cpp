#include "memory/caching_allocator.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>
#include <utility>

#include "base/system/memory.h"

namespace forerun {

namespace {

constexpr size_t kMapped = size_t{1} << 20, kAlign = 64;

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
  if (bytes < kMapped) return aligned_block(kAlign, (bytes + kAlign - 1) / kAlign * kAlign);
  return map_pages(bytes);
}

void to_system(char* data, size_t bytes) {
  if (bytes < kMapped) return free_aligned(data);
  if (!RegisteredBlocks::get().remove(data)) return;  // still mapped: a device may copy from and to the pages
  unmap_pages(data, bytes);
}

}  // namespace

// Stored in the block itself; but separately for pages that may have been given back, where writing would allocate the
// first one.
CachingAllocator::Idle* CachingAllocator::remember(char* data, size_t bytes) {
  Idle* block = bytes < kMapped ? nullptr : new (std::nothrow) Idle;
  return new (block ? static_cast<void*>(block) : data) Idle{nullptr, bytes, data};
}

char* CachingAllocator::forget(Idle* block) {
  char* data = block->data;
  if (reinterpret_cast<char*>(block) != data) delete block;
  return data;
}

CachingAllocator& CachingAllocator::get() {
  static CachingAllocator* cache = new CachingAllocator;  // never destroyed: blocks may be freed at exit
  return *cache;
}

char* CachingAllocator::take(size_t bytes) {
  int c = size_class(bytes);
  size_t size = class_bytes(c);
  Idle *block, *leaving = nullptr;
  {
    std::lock_guard held(mutex_);
    classes_[c].used = ++taken_;
    in_use_ += size;
    block = classes_[c].first;
    if (block)
      classes_[c].first = block->next, cached_ -= size;
    else if (in_use_ + cached_ > total_)
      leaving = shrink(total_ - std::min(total_, in_use_));
  }
  if (block) return forget(block);
  release(leaving);
  char* data = from_system(size);
  if (!data && trim() > 0) data = from_system(size);
  if (data) return data;
  std::lock_guard held(mutex_);
  in_use_ -= size;
  return nullptr;
}

void CachingAllocator::give(char* data, size_t bytes) {
  int c = size_class(bytes);
  size_t size = class_bytes(c);
  Idle *leaving, *block = remember(data, size);
  {
    std::lock_guard held(mutex_);
    in_use_ -= size;
    block->next = std::exchange(classes_[c].first, block);
    cached_ += size;
    leaving = shrink(std::min(limit_, total_ - std::min(total_, in_use_)));
  }
  release(leaving);
}

// Sizes that have not been requested for the longest go first: after its sizes change, a program does not pay for the
// old ones.
CachingAllocator::Idle* CachingAllocator::shrink(size_t keep) {
  Idle* leaving = nullptr;
  while (cached_ > keep) {
    Class* oldest = nullptr;
    for (Class& c : classes_)
      if (c.first && (!oldest || c.used < oldest->used)) oldest = &c;
    while (oldest->first && cached_ > keep) {
      Idle* block = oldest->first;
      oldest->first = block->next;
      cached_ -= block->bytes;
      block->next = leaving, leaving = block;
    }
  }
  return leaving;
}

size_t CachingAllocator::release(Idle* first) {
  size_t bytes = 0;
  while (first) {
    Idle* block = first;
    first = block->next;
    const size_t size = block->bytes;
    bytes += size;
    to_system(forget(block), size);
  }
  return bytes;
}

size_t CachingAllocator::trim(size_t keep) {
  Idle* leaving;
  {
    std::lock_guard held(mutex_);
    leaving = shrink(keep);
  }
  return release(leaving);
}

// Registered at the first copy already: on an H100, locking the pages of 32 MB, a copy and unlocking take 4.9 ms
// together, and a copy of unregistered memory takes 6 ms; so registration pays even for a block that is copied once.
void CachingAllocator::register_block(char* data, size_t bytes, const MemoryRegistrar& registrar) {
  const size_t size = class_bytes(size_class(bytes));
  if (size >= kMapped) RegisteredBlocks::get().add(data, size, registrar);
}

size_t CachingAllocator::cached() const {
  std::lock_guard held(mutex_);
  return cached_;
}

size_t CachingAllocator::in_use() const {
  std::lock_guard held(mutex_);
  return in_use_;
}

void CachingAllocator::set_limits(size_t cached, size_t total) {
  Idle* leaving;
  {
    std::lock_guard held(mutex_);
    limit_ = cached, total_ = total;
    leaving = shrink(std::min(limit_, total_ - std::min(total_, in_use_)));
  }
  release(leaving);
}

}  // namespace forerun
