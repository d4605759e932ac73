// Reference counting that distinguishes the front end's handles from the references of ops.
#pragma once
#include <atomic>
#include <cstdint>

namespace forerun {

// Begins without a reference. Any thread.
class ReferenceCounted {
 public:
  void retain() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if ((refs_.fetch_sub(1, std::memory_order_acq_rel) & kRefMask) == 1)
      dispose();  // acq_rel: the last one sees all uses
  }
  // Releases a reference unless it is the last one; false: it is the last.
  bool release_unless_last() {
    uint64_t refs = refs_.load(std::memory_order_relaxed);
    while ((refs & kRefMask) != 1)
      if (refs_.compare_exchange_weak(refs, refs - 1, std::memory_order_release, std::memory_order_relaxed))
        return true;
    return false;
  }
  // A handle is a reference of the front end, which the engine can distinguish: values without handle or reader are
  // dead.
  void retain_handle() {
    // The first reference: no other thread knows the object yet.
    if (refs_.load(std::memory_order_relaxed) == 0) return refs_.store(kHandle + 1, std::memory_order_relaxed);
    refs_.fetch_add(kHandle + 1, std::memory_order_relaxed);
  }
  void release_handle() {
    if (only_handle()) return refs_.store(0, std::memory_order_relaxed), dispose();
    if ((refs_.fetch_sub(kHandle + 1, std::memory_order_acq_rel) & kRefMask) == 1) dispose();
  }
  // Whether only `ops` unfinished ops refer to it: no handle, and no op that is issued and not yet planned.
  bool only_ops(uint32_t ops) const { return refs_.load(std::memory_order_acquire) == ops; }
  bool more_than(uint32_t ops) const { return refs_.load(std::memory_order_acquire) > ops; }
  bool has_handles() const { return refs_.load(std::memory_order_acquire) >= kHandle; }
  // The number of accesses by operations that are issued and have not ended. Zero (acquire) also means that their reads
  // have ended.
  uint32_t unfinished_uses() const {
    uint64_t refs = refs_.load(std::memory_order_acquire);
    return static_cast<uint32_t>((refs & kRefMask) - refs / kHandle);
  }
  // Whether a handle is the only reference: no other thread could make a further one.
  bool only_handle() const { return refs_.load(std::memory_order_acquire) == kHandle + 1; }
  bool has_one_handle() const { return refs_.load(std::memory_order_acquire) / kHandle == 1; }

 protected:
  ~ReferenceCounted() = default;
  virtual void dispose() = 0;  // called when no reference is left

 private:
  static constexpr uint64_t kHandle = uint64_t{1} << 32, kRefMask = kHandle - 1;
  std::atomic<uint64_t> refs_{0};  // references, and handles in the upper half
};

}  // namespace forerun
