// The engine's data about a block of device memory: the ops that use it, in order, and whether its values are valid.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "base/region.h"
#include "base/simd/relaxed_atomic.h"
#include "engine/operations/reference_counted.h"
#include "engine/sync/completion.h"

namespace forerun {

class Op;
class MemoryBudget;
struct Access;
struct Section;

// The dtype (by number) and the first extents of the array that a storage was made for, for messages and profiles.
struct DebugShape {
  static constexpr int kExtents = 6;
  static constexpr uint8_t kNone = 255;
  uint8_t dtype = kNone, ndim = 0;
  uint32_t extents[kExtents] = {};  // saturating
};

// Owned by reference counting: every front-end handle and every unfinished op holds one reference. Its memory is
// allocated when the first op that writes it starts, and freed with the last reference.
class Storage : public ReferenceCounted {
 public:
  Storage(size_t bytes, MemoryBudget* budget) : bytes(bytes), budget(budget) {}
  virtual ~Storage() {
    if (sections) drop_sections();
  }

  // Writes are counted at issue and when they end; a storage is settled when all issued writes have ended. Any thread.
  bool settled() const { return ended.load(std::memory_order_acquire) == issued.load(std::memory_order_relaxed); }

  // Whether at least that many writes have ended; the numbers wrap around.
  bool has_ended(uint32_t writes) const { return static_cast<int32_t>(ended.load() - writes) >= 0; }

  // Small values are in the object itself and need no memory of their own.
  static constexpr size_t kInline = 64;
  size_t memory() const { return bytes <= kInline ? 0 : bytes; }
  size_t charged() const { return elided ? 0 : memory(); }

  // Memory: called by the one op that may write (or first read) it now, without the engine's lock. False: out of
  // memory.
  virtual bool take() = 0;
  virtual bool taken() const = 0;
  // Before a write: a block that a reader outside the engine still uses is left to that reader, and replaced by a fresh
  // one (with the old values if `keep`). False: out of memory.
  virtual bool protect(bool keep) = 0;

  // Whether no reader outside the engine uses the memory, so that a write needs no fresh block.
  virtual bool unshared() const = 0;
  // By the front end, after it has written a storage that no op in flight uses (AtOnceRunner).
  void count_write_at_once() {
    last_write = 0, last_whole = 0;
    issued.store(issued.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    ended.store(ended.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  // take_over(): takes the memory of another storage of the same size, whose values can still be read there; false: a
  // reader outside the engine uses it. hand_back(): the inverse. Guarded by the engine's lock, while no op that uses
  // either of them runs.
  virtual bool take_over(Storage& from) = 0;
  virtual void hand_back(Storage& to) = 0;

  // Stops counting its memory: only the caller refers to it, and will release it soon. Returns the number of bytes; 0
  // if a reader outside the engine keeps the memory.
  virtual size_t write_off() = 0;

  // Fields that issuing threads write are not on the cache line of the fields that the engine writes.
  std::atomic<uint32_t> issued{0};  // writes issued
  // Differs between successive storages at the same address.
  uint32_t generation = next_generation();

  size_t bytes;          // fixed while there are references
  DebugShape form;       // set at construction
  MemoryBudget* budget;  // the budget of its memory; outlives every storage; fixed likewise

  alignas(64) std::atomic<uint32_t> ended{0};  // writes ended: release by the engine, acquire by readers of the values
  std::atomic<bool> watched{false};            // a thread sleeps until a write of it ends, or an event loop awaits it

  // Guarded by the engine's lock.
  Op* writer = nullptr;         // the last planned write that has not ended
  Access* readers = nullptr;    // planned reads since that write that have not ended (a doubly linked list)
  Section* sections = nullptr;  // planned accesses of parts since that write, by their regions: n_sections of them
  uint32_t n_sections = 0;
  uint32_t apart = 0;         // planned writes of parts that have not ended; while there are any, no reader outside the
                              // engine uses the memory
  uint32_t held = 0;          // writes that have ended and are not counted, as earlier ones may not have ended
  bool materialized = false;  // it has memory, or the op that allocates it has started
  bool elided = false;     // only ops of one group use it: it never has memory, or has given it to one of their outputs
  uint32_t in_group = 0;   // accesses by the ops that a function examines; 0 outside of it
  uint32_t place = 0;      // its position in the data of the group that is being formed,
  uint64_t placed_by = 0;  // and the group's number; 0: none
  uint32_t uses = 0;       // accesses of planned ops that have not ended
  uint64_t last_use = 0;   // number of the last planned op that uses it
  RelaxedAtomic<uint64_t> last_write;  // number of the last planned op that writes it; may be read without the lock
  uint64_t last_whole = 0;             // number of the last planned op that writes all of it
  Storage* next_freed = nullptr;       // in DependencyGraph::Released

  CompletionList watchers;  // completions of its writes, in the order of their targets; guarded by the notifier's lock

  // Written by the op that writes the storage, before `ended`; read by ops ordered after it, or after settled().
  FailurePtr failure;  // the earliest failure of its parts
  struct PoisonedRegion {
    Region region;
    FailurePtr failure;
  };
  std::vector<PoisonedRegion> poisoned;  // empty: all of it has the failure
  // The failure of the values in a region; null: they are valid.
  FailurePtr failure_in(const Region& region) const;
  // Records that an op that writes a region has failed, with the earliest failure of the values that overlap the
  // region.
  void poison(const Region& region, const FailurePtr& why);
  // Records that all of it has been written; null: it is valid.
  void set_failure(const FailurePtr& why) {
    failure = why;
    if (!poisoned.empty()) [[unlikely]]
      std::vector<PoisonedRegion>().swap(poisoned);
  }

  void drop_sections();  // no accesses of them are planned

 protected:
  // Resets it as new. Nothing refers to it.
  void renew(size_t new_bytes, MemoryBudget* new_budget) {
    ++generation;
    bytes = new_bytes, budget = new_budget, form.dtype = DebugShape::kNone;
    issued.store(0, std::memory_order_relaxed), ended.store(0, std::memory_order_relaxed),
        watched.store(false, std::memory_order_relaxed);
    writer = nullptr, readers = nullptr;
    if (sections) [[unlikely]]
      drop_sections();
    materialized = elided = false;
    uses = held = 0, placed_by = 0;
    last_use = 0, last_write = 0, last_whole = 0;
  }

 private:
  // The first number of a new object, which may be at the address of a deleted one: far from the numbers of that one.
  static uint32_t next_generation() {
    static std::atomic<uint32_t> made{0};
    return made.fetch_add(0x9E3779B1, std::memory_order_relaxed);
  }
};

}  // namespace forerun
