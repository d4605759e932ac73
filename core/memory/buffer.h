// Host memory behind arrays: a reference-counted block, allocated late, shared with readers outside the engine.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>

#include "base/simd/relaxed_atomic.h"
#include "engine/operations/storage.h"

namespace forerun {

class MemoryRegistrar;

// A block of memory. Its owner (a Buffer) holds one reference; every view handed to a user holds another.
struct Block {
  char* data;
  size_t bytes;
  MemoryBudget* budget;  // null: the block is not counted, or no longer
  std::atomic<int> refs{1};
  // Set if the memory belongs to another library, which may still use it: nothing is written to it. Null: forerun's
  // memory.
  void (*drop)(void* owner) = nullptr;  // releases the other library's memory; must not wait
  void* owner = nullptr;
  bool given = false;  // the other library no longer uses it: it is treated as forerun's
  // Whether no other storage or library can see a write. While a write runs, readers only release the block, and no new
  // readers appear: true is final.
  bool exclusive() const { return (!drop || given) && refs.load(std::memory_order_acquire) == 1; }
  void retain() { refs.fetch_add(1, std::memory_order_relaxed); }
  void release();  // the last release frees the memory
};

// The values of a storage in the memory of an accelerator. Destroying it frees the memory.
class DeviceValues {
 public:
  virtual ~DeviceValues() = default;
};

// A storage in host memory, with small values in the object itself; or, if its budget is an accelerator's, in the
// accelerator's memory, which the front end does not write.
class Buffer final : public Storage {
 public:
  static Buffer* make(size_t bytes, MemoryBudget* budget);  // with no reference yet; any thread

  // Valid once memory is allocated; stable while an op that uses the storage runs. Null on an accelerator.
  char* data() const { return data_; }

  // Whether the object can be reused as a new storage: only one handle refers to it, and it holds valid values in the
  // object itself.
  bool reusable() const { return only_handle() && data_ == inline_ && !failure && settled(); }
  // Makes it a new storage of few bytes, with memory; keeps the caller's handle.
  void reuse(size_t new_bytes, MemoryBudget* new_budget) {
    renew(new_bytes, new_budget);
    materialized = true;
  }

  bool take() override;
  bool taken() const override { return data_ || taken_on_device_; }
  bool protect(bool keep) override;
  bool unshared() const override { return (!block_ || aliased_ || block_->exclusive()) && !taken_on_device_; }
  size_t write_off() override;
  bool take_over(Storage& from) override;
  void hand_back(Storage& to) override;
  // A block that holds the values, for a reader outside the engine; the caller owns one reference. To be called while
  // no write runs. Small values are copied, large ones shared: a later write then uses a new block.
  Block* share();
  // From now on readers outside the engine see later writes, and may write, too. To be called while no op uses the
  // storage.
  void share_writes();
  bool aliased() const { return aliased_; }
  static bool any_aliased() { return any_aliased_; }  // whether any storage ever was
  // Before a device copies from or to it: speeds up the copy if the memory is forerun's own and large
  // (register_block()).
  void register_with(const MemoryRegistrar& registrar) const;
  // Takes over a block with values; for a storage without memory.
  void adopt(Block* block) { block_ = block, data_ = block->data; }
  // The same of a block that another library reads and writes.
  void adopt_shared(Block* block) {
    adopt(block);
    aliased_ = true, any_aliased_ = true;
  }
  // The same, replacing a block without other readers, which is released; by the op that writes all of the storage.
  void replace(Block* block) {
    block_->release();
    adopt(block);
  }

  // From now on it has the values of several scalars; there are so many such storages.
  void share_among_scalars() { of_scalars_ = true, ++n_of_scalars_; }
  static int64_t n_of_scalars() { return n_of_scalars_; }

  // The values on an accelerator, written by the last op that its lane has accepted. Used by the threads of lanes
  // alone, in the order in which ops are handed over.
  std::unique_ptr<DeviceValues> values;

 private:
  template <class T>
  friend class FreeList;
  using Storage::Storage;
  void dispose() override;

  Buffer* next_free = nullptr;
  char* data_ = nullptr;
  bool taken_on_device_ = false;  // on an accelerator: memory is allocated and counted
  // Readers outside the engine see writes, and may write: an op that uses the storage has ended before the call returns
  // that issued it.
  bool aliased_ = false;
  static inline RelaxedAtomic<bool> any_aliased_;
  bool of_scalars_ = false;
  static inline std::atomic<int64_t> n_of_scalars_{0};
  Block* block_ = nullptr;  // null while the values are in inline_
  alignas(16) char inline_[kInline];
};

}  // namespace forerun
