// Passes: optional rewrites during planning. Each may be switched off; results are bit-identical.
#pragma once
#include <atomic>
#include <cstdint>

namespace forerun {

enum class Pass : uint8_t {
  drop = 1,      // dead ops, whose results nothing reads, do not run
  fuse = 2,      // element-wise ops and reductions run together, tile by tile
  reuse = 4,     // an output takes the memory of an input that is no longer needed
  at_once = 8,   // immediate execution: small ops run in the submitting thread, without being planned
  apart = 16,    // ops that use parts of a storage that do not overlap are not ordered
  compile = 32,  // loops of groups that run often are compiled while the program runs
};

// Which passes are on. Any thread, any time.
class PassSettings {
 public:
  bool on(Pass pass) const { return passes_.load(std::memory_order_relaxed) & static_cast<int>(pass); }
  void set(int sum_of_passes) { passes_.store(sum_of_passes); }
  // An op that costs less (ns) is not worth a group;
  uint32_t fuse_from() const { return fuse_from_.load(std::memory_order_relaxed); }
  void set_fuse_from(uint32_t ns) { fuse_from_.store(ns); }
  // one that costs less is ordered with all that use its storages.
  uint32_t apart_from() const { return apart_from_.load(std::memory_order_relaxed); }
  void set_apart_from(uint32_t ns) { apart_from_.store(ns); }

 private:
  std::atomic<int> passes_{static_cast<int>(Pass::drop) | static_cast<int>(Pass::fuse) | static_cast<int>(Pass::reuse) |
                           static_cast<int>(Pass::at_once) | static_cast<int>(Pass::apart) |
                           static_cast<int>(Pass::compile)};
  std::atomic<uint32_t> fuse_from_{500}, apart_from_{5000};
};

}  // namespace forerun
