// The devices: their queues and budgets, those over which the cores are split, and those that share the cores.
#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "engine/devices/memory_budget.h"
#include "engine/devices/queue.h"

namespace forerun {

struct Device {
  std::unique_ptr<MemoryBudget> budget;
  std::unique_ptr<Queue> compute, copy, io;
  std::atomic<bool> used{false};  // its queues are served; written with the engine's lock
  std::array<Queue*, 3> queues() const { return {compute.get(), copy.get(), io.get()}; }
};

// Bytes of arrays, per device (see MemoryBudget) and of all devices together.
struct MemoryLimits {
  size_t soft = SIZE_MAX, hard = SIZE_MAX, io_headroom = 0, soft_of_all = SIZE_MAX, hard_of_all = SIZE_MAX;
};

class DeviceTable {
 public:
  static constexpr int kMostDevices = 256;

  explicit DeviceTable(const SubmissionRing& ring) : ring_(ring) {}

  // --- Any thread ---
  Device& operator[](int i) const { return *devices_[i]; }  // one that has been used
  int size() const { return n_devices_; }                   // over which the cores are split; others share them

  // --- With the engine's lock ---
  // The devices over which the cores are split, with so many workers each, and threads per device for files. Their
  // queues have no threads yet.
  void configure(const std::vector<int>& workers, int io_threads);
  // A device that shares the cores; null: it is in use already.
  Device* use(int i);
  // Limits of the devices over which the cores are not split; and of all together, once there is one of those.
  void limit_shared(const MemoryLimits& limits);
  // The ops of this queue go to a lane; null: to threads of the engine, again. Returns the one before. While nothing
  // is in flight.
  Lane* set_lane(int i, Queue::Kind kind, Lane* lane);
  // The device's memory and lanes are an accelerator's; it has this much memory. While nothing is in flight.
  void set_accelerator(int i, Accelerator& accelerator, Lane& compute, Lane& copy, size_t memory);
  // In the child of a process that forked, which has none of them.
  void lose_accelerators();
  // The queues have room for a ring of so many slots.
  void make_room(uint64_t slots);
  const std::vector<Queue*>& queues() const { return queues_; }  // of the devices in use
  const std::vector<Device*>& all() const { return made_; }

  // Whether its outputs do not fit into the limit of its device, or of all devices.
  bool over_limit(const Op& op) const;
  // As one budget would have it: an op that others precede on other devices leaves them the memory that they will take.
  bool crowded(const Op& op) const;
  // Bytes of all devices; 0 while there are no devices but those over which the cores are split.
  size_t occupied_by_all() const;
  std::string over_limit_message(Op& op) const;

 private:
  void make(int i);
  void put_into_use(Device& device, int workers);

  const SubmissionRing& ring_;
  // Guarded by the engine's lock; what a pointer here leads to stays, as storages point to budgets.
  std::array<std::unique_ptr<Device>, kMostDevices> devices_;
  std::vector<Device*> made_;   // all that have ever been used
  std::vector<Queue*> queues_;  // of those in use now
  int n_devices_ = 0, workers_of_shared_ = 0, io_threads_ = 1;
  MemoryLimits shared_limits_;
};

}  // namespace forerun
