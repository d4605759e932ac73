// Host memory behind arrays: a reference-counted block, taken late, shared with readers outside the engine.
#pragma once
#include <atomic>
#include <cstddef>

#include "engine/graph/storage.h"

namespace forerun {

// A block of memory. Its owner (a Buffer) holds one reference; every view that a user was given holds another.
struct Block {
  char* data;
  size_t bytes;
  MemoryBudget* budget;  // null: does not count, or no longer
  std::atomic<int> refs{1};
  // Memory that others have made, and may go on using: nothing is written to it. Null: it is ours.
  void (*drop)(void* owner) = nullptr;  // tells them that we need it no longer; must not wait
  void* owner = nullptr;
  bool given = false;  // they go on using nothing: it is as good as ours
  // Nobody else can see a write. Readers only ever let go of a block that is not given to new ones while a write runs:
  // true is final.
  bool exclusive() const { return (!drop || given) && refs.load(std::memory_order_acquire) == 1; }
  void retain() { refs.fetch_add(1, std::memory_order_relaxed); }
  void release();  // the last one gives the memory back
};

// A storage in host memory. Small ones stand in the object itself.
class Buffer final : public Storage {
 public:
  static Buffer* make(size_t bytes, MemoryBudget* budget);  // with no reference yet; any thread

  // Valid once taken; stable while an op that uses the storage runs.
  char* data() const { return data_; }

  bool take() override;
  bool taken() const override { return data_ != nullptr; }
  bool protect(bool keep) override;
  bool unshared() const override { return !block_ || block_->exclusive(); }
  size_t write_off() override;
  bool take_over(Storage& from) override;
  void hand_back(Storage& to) override;
  // A block that holds the values, for a reader outside the engine; the caller owns one reference. To be called while
  // no write runs. Small values are copied, large ones shared: a later write leaves the block to its readers.
  Block* share();
  // Takes a block with values for its memory; a storage that has none yet.
  void adopt(Block* block) { block_ = block, data_ = block->data; }
  // The same in place of a block that nobody else looks at, which goes back; by the op that writes all of it.
  void replace(Block* block) {
    block_->release();
    adopt(block);
  }

 private:
  template <class T>
  friend class FreeList;
  using Storage::Storage;
  void dispose() override;

  Buffer* next_free = nullptr;
  char* data_ = nullptr;
  Block* block_ = nullptr;  // null while the values stand in inline_
  alignas(16) char inline_[kInline];
};

}  // namespace forerun
