#include "memory/buffer.h"

#include <cstring>
#include <new>
#include <utility>

#include "base/containers/free_list.h"
#include "engine/devices/memory_budget.h"
#include "memory/caching_allocator.h"

namespace forerun {

namespace {

Block* make_block(size_t bytes, MemoryBudget* budget) {
  char* data = CachingAllocator::get().take(bytes);
  auto* block = data ? new (std::nothrow) Block{data, bytes, budget} : nullptr;
  if (data && !block) CachingAllocator::get().give(data, bytes);
  if (block && budget) budget->charge(bytes);
  return block;
}

}  // namespace

void Block::release() {
  if (refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (budget) budget->discharge(bytes);
  if (drop)
    drop(owner);
  else
    CachingAllocator::get().give(data, bytes);
  delete this;
}

Buffer* Buffer::make(size_t bytes, MemoryBudget* budget) {
  Buffer* old = FreeList<Buffer>::take();
  if (!old) return FreeList<Buffer>::made(new Buffer(bytes, budget));
  old->renew(bytes, budget);
  return old;
}

bool Buffer::take() {
  if (budget && budget->accelerator) [[unlikely]] {  // whose memory is allocated when the op is handed over
    taken_on_device_ = true;
    budget->charge(memory());
    return true;
  }
  if (bytes <= kInline) {
    data_ = inline_;
    return true;
  }
  block_ = make_block(bytes, budget);
  data_ = block_ ? block_->data : nullptr;
  return block_ != nullptr;
}

bool Buffer::protect(bool keep) {
  if (!block_ || aliased_ || block_->exclusive()) return true;
  Block* fresh = make_block(bytes, budget);
  if (!fresh) return false;
  if (keep) std::memcpy(fresh->data, block_->data, bytes);
  block_->release();
  block_ = fresh;
  data_ = fresh->data;
  return true;
}

size_t Buffer::write_off() {
  if (taken_on_device_) {
    taken_on_device_ = false;
    budget->discharge(memory());
    return memory();
  }
  if (!block_ || !block_->budget || !block_->exclusive()) return 0;
  block_->budget->discharge(block_->bytes);
  block_->budget = nullptr;
  return block_->bytes;
}

bool Buffer::take_over(Storage& from) {
  auto& other = static_cast<Buffer&>(from);
  if (!other.block_ || !other.block_->exclusive()) return false;
  block_ = std::exchange(other.block_, nullptr);
  data_ = block_->data;
  return true;
}

void Buffer::hand_back(Storage& to) {
  static_cast<Buffer&>(to).block_ = std::exchange(block_, nullptr);
  data_ = nullptr;
}

Block* Buffer::share() {
  if (block_ && !aliased_) return block_->retain(), block_;
  Block* copy = make_block(bytes ? bytes : 1, nullptr);
  if (!copy) throw std::bad_alloc();
  std::memcpy(copy->data, aliased_ ? data_ : inline_, bytes);
  return copy;
}

void Buffer::share_writes() {
  if (!block_) {
    Block* own = make_block(bytes ? bytes : 1, budget);
    if (!own) throw std::bad_alloc();
    std::memcpy(own->data, inline_, bytes);
    adopt(own);
  } else if (!protect(true)) {
    throw std::bad_alloc();
  }
  aliased_ = true, any_aliased_ = true;
}

void Buffer::register_with(const MemoryRegistrar& registrar) const {
  if (block_ && !block_->drop) CachingAllocator::get().register_block(block_->data, block_->bytes, registrar);
}

void Buffer::dispose() {
  if (block_) block_->release();
  block_ = nullptr, data_ = nullptr, aliased_ = false;
  if (std::exchange(of_scalars_, false)) [[unlikely]]
    --n_of_scalars_;
  if (taken_on_device_) write_off();
  if (values && budget->lost.load(std::memory_order_relaxed)) [[unlikely]]
    values.release();  // the device's threads, which might be needed to release the values, are in the parent
  values.reset();
  set_failure(nullptr);
  FreeList<Buffer>::give(this);
}

}  // namespace forerun
