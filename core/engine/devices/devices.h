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
  Device& operator[](int i) const { return *devices_[i]; }  // a device that has been used
  int size() const { return n_devices_; }                   // over which the cores are split; other devices share them

  // --- With the engine's lock ---
  // Sets the devices over which the cores are split, the number of workers of each, and the threads per device for
  // files. Their queues have no threads yet.
  void configure(const std::vector<int>& workers, int io_threads);
  // Puts a device that shares the cores into use; null: it is in use already.
  Device* use(int i);
  // Limits of the devices over which the cores are not split; and of all devices together, once such a device is in
  // use.
  void limit_shared(const MemoryLimits& limits);
  // Sends the ops of this queue to a lane; null: to threads of the engine. Returns the previous lane. While nothing is
  // in flight.
  Lane* set_lane(int i, Queue::Kind kind, Lane* lane);
  // Makes the device an accelerator, with its lanes and this much memory. While nothing is in flight.
  void set_accelerator(int i, Accelerator& accelerator, Lane& compute, Lane& copy, size_t memory);
  // In the child of a fork, which cannot use the parent's accelerators.
  void lose_accelerators();
  // Makes the queues large enough for a ring of so many slots.
  void make_room(uint64_t slots);
  const std::vector<Queue*>& queues() const { return queues_; }  // of the devices in use
  const std::vector<Device*>& all() const { return made_; }

  // Whether the op's outputs do not fit into the limit of its device, or of all devices.
  bool over_limit(const Op& op) const;
  // Whether the op must wait because older ops on other devices will need memory, as if all devices had one budget.
  bool crowded(const Op& op) const;
  // Bytes of all devices; 0 if there are only devices over which the cores are split.
  size_t occupied_by_all() const;
  std::string over_limit_message(Op& op) const;

 private:
  void make(int i);
  void put_into_use(Device& device, int workers);

  const SubmissionRing& ring_;
  // Guarded by the engine's lock; a device is never destroyed, as storages point to budgets.
  std::array<std::unique_ptr<Device>, kMostDevices> devices_;
  std::vector<Device*> made_;   // all devices that have ever been used
  std::vector<Queue*> queues_;  // queues of the devices in use
  int n_devices_ = 0, workers_of_shared_ = 0, io_threads_ = 1;
  MemoryLimits shared_limits_;
};

}  // namespace forerun
