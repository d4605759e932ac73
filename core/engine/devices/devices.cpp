#include "engine/devices/devices.h"

#include <algorithm>
#include <utility>

namespace forerun {

namespace {

void limit(MemoryBudget& budget, const MemoryLimits& limits) {
  budget.soft.store(limits.soft), budget.hard.store(limits.hard), budget.io_headroom.store(limits.io_headroom);
}

}  // namespace

void DeviceTable::configure(const std::vector<int>& workers, int io_threads) {
  queues_.clear();
  for (Device* device : made_) device->used.store(false);
  n_devices_ = static_cast<int>(workers.size());
  workers_of_shared_ = workers.empty() ? 0 : workers[0];
  io_threads_ = io_threads;
  for (int i = 0; i < n_devices_; ++i) {
    if (!devices_[i]) make(i);
    put_into_use(*devices_[i], workers[i]);
  }
}

void DeviceTable::make(int i) {
  auto device = std::make_unique<Device>();
  device->budget = std::make_unique<MemoryBudget>(i);
  MemoryBudget* budget = device->budget.get();
  device->compute = std::make_unique<Queue>(Queue::Kind::compute, i, budget, ring_);
  device->copy = std::make_unique<Queue>(Queue::Kind::copy, i, budget, ring_);
  device->io = std::make_unique<Queue>(Queue::Kind::io, i, budget, ring_);
  for (Queue* q : device->queues()) q->sleeping.store(1), q->make_room(ring_.size());
  made_.push_back(device.get());
  devices_[i] = std::move(device);
}

void DeviceTable::put_into_use(Device& device, int workers) {
  queues_.reserve(queues_.size() + 3);
  device.compute->wanted = device.compute->lane ? workers > 0 : workers;
  device.copy->wanted = workers > 0;
  device.io->wanted = workers > 0 ? io_threads_ : 0;
  for (Queue* q : device.queues()) {
    q->workers = q->wanted;
    queues_.push_back(q);
  }
  device.used.store(true);
}

Lane* DeviceTable::set_lane(int i, Queue::Kind kind, Lane* lane) {
  if (!devices_[i]) make(i);
  Queue& queue = *devices_[i]->queues()[static_cast<size_t>(kind)];
  queue.attended = lane && lane->attended();
  return std::exchange(queue.lane, lane);
}

void DeviceTable::set_accelerator(int i, Accelerator& accelerator, Lane& compute, Lane& copy, size_t memory) {
  set_lane(i, Queue::Kind::compute, &compute);
  set_lane(i, Queue::Kind::copy, &copy);
  MemoryBudget& budget = *devices_[i]->budget;
  budget.accelerator = &accelerator, budget.lost.store(false);
  limit(budget, {memory, memory});
}

void DeviceTable::lose_accelerators() {
  for (Device* device : made_) device->budget->lost.store(device->budget->accelerator != nullptr);
}

Device* DeviceTable::use(int i) {
  if (!devices_[i]) make(i);
  Device& device = *devices_[i];
  if (device.used.load()) return nullptr;
  if (!device.budget->accelerator) limit(*device.budget, shared_limits_);
  put_into_use(device, workers_of_shared_);
  return &device;
}

void DeviceTable::limit_shared(const MemoryLimits& limits) {
  shared_limits_ = limits;
  for (Device* device : made_)
    if (device->budget->device >= n_devices_ && !device->budget->accelerator) limit(*device->budget, limits);
}

void DeviceTable::make_room(uint64_t slots) {
  for (Device* device : made_)
    for (Queue* q : device->queues()) q->make_room(slots);
}

size_t DeviceTable::occupied_by_all() const {
  // Devices of an earlier configuration that are no longer in use share nothing.
  auto shares = [&](const Device* device) {
    return device->budget->device >= n_devices_ && device->used.load() && !device->budget->accelerator;
  };
  if (std::none_of(made_.begin(), made_.end(), shares)) return 0;
  size_t sum = 0;
  for (const Device* device : made_)
    if (!device->budget->accelerator) sum += device->budget->occupied();
  return sum;
}

bool DeviceTable::over_limit(const Op& op) const {
  const MemoryBudget& budget = *op.budget;
  if (op.to_take == 0) return false;
  if (op.to_take + budget.occupied() > budget.hard.load()) return true;
  return !budget.accelerator && op.to_take + occupied_by_all() > shared_limits_.hard_of_all;
}

bool DeviceTable::crowded(const Op& op) const {
  size_t all = occupied_by_all(), demand = 0, older = 0;
  if (op.to_take == 0 || op.inner || all == 0 || op.budget->accelerator) return false;
  for (const Device* device : made_)
    if (!device->budget->accelerator) demand += device->budget->unstarted_demand();
  if (all + demand <= std::min(shared_limits_.soft_of_all, shared_limits_.hard_of_all)) return false;
  bool first = true;
  for (const Device* device : made_) {
    const MemoryBudget& budget = *device->budget;
    const Op* oldest = budget.first();
    if (&budget == op.budget || budget.accelerator || !oldest || oldest->seq > op.seq) continue;
    first = false;
    size_t more = budget.wanted_before(op);
    older = more == SIZE_MAX ? more : older + more;
    if (older == SIZE_MAX) return true;
  }
  return !first &&
         (all + op.to_take > shared_limits_.soft_of_all || all + op.to_take + older > shared_limits_.hard_of_all);
}

std::string DeviceTable::over_limit_message(Op& op) const {
  size_t live = op.budget->live.load(), limit = op.budget->hard.load();
  if (op.queue->lane && op.to_take + op.budget->occupied() <= limit) {
    size_t asked = 0, counted = 0;  // its outputs count as live from its first try on
    for (int i = 0; i < op.n_access; ++i)
      if (const Access& a = op.access(i); a.mode != Mode::read)
        asked += a.storage->memory(), counted += a.storage->taken() ? a.storage->memory() : 0;
    return "memory: the device must have memory for the operation, asked for " + std::to_string(asked) +
           " bytes of outputs besides its workspace, with " + std::to_string(live - std::min(live, counted)) + " live";
  }
  // the limit of all devices together is exceeded
  if (op.to_take + op.budget->occupied() <= limit && occupied_by_all() > 0) {
    live = 0, limit = shared_limits_.hard_of_all;
    for (const Device* device : made_)
      if (!device->budget->accelerator) live += device->budget->live.load();
  }
  return "memory: arrays must fit into the limit, asked for " + std::to_string(op.to_take) + " bytes with " +
         std::to_string(live) + " live and a limit of " + std::to_string(limit);
}

}  // namespace forerun
