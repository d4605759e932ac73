#include "pjrt/backend/staging_pool.h"

#include "base/system/memory.h"
#include "memory/registered_blocks.h"

namespace forerun::pjrt {

StagingPool::~StagingPool() {
  if (!client_.in_child() && RegisteredBlocks::get().remove(memory_)) free_aligned(memory_);
}

StagingPool::Place StagingPool::take(size_t bytes) {
  const size_t kind = bytes > kinds_[0].bytes;
  if (bytes > kinds_[kind].bytes) return {};
  std::lock_guard held(mutex_);
  if (!std::exchange(allocated_, true)) allocate();
  std::vector<char*>& free = kinds_[kind].free;
  if (free.empty()) return {};
  char* place = free.back();
  free.pop_back();
  return {*this, kind, place};
}

void StagingPool::allocate() {
  RegisteredBlocks& registered = RegisteredBlocks::get();
  size_t bytes = 0;
  for (const Kind& kind : kinds_) bytes += kind.bytes * kind.count;
  memory_ = aligned_block(4096, bytes);  // whole pages
  if (!memory_) return;
  registered.add(memory_, bytes, client_);
  if (!registered.holds(memory_)) return;
  char* place = memory_;
  for (Kind& kind : kinds_)
    for (size_t i = 0; i < kind.count; ++i, place += kind.bytes) kind.free.push_back(place);
}

void StagingPool::give_back(size_t kind, char* place) {
  std::lock_guard held(mutex_);
  kinds_[kind].free.push_back(place);
}

}  // namespace forerun::pjrt
