// Devices: their queues, and who serves them; those over which the cores are split, and those that share them.
#include <algorithm>

#include "engine/engine.h"

namespace forerun {

void Engine::configure(const std::vector<int>& workers, int cores, int io_threads) {
  Lock held = lock();
  queues_.clear();
  for (Device* device : made_) device->used.store(false);
  n_devices_ = static_cast<int>(workers.size());
  workers_of_shared_ = workers.empty() ? 0 : workers[0];
  io_threads_ = io_threads;
  for (int i = 0; i < n_devices_; ++i) {
    if (!devices_[i]) make_device(i);
    serve_device(*devices_[i], workers[i]);
  }
  cores_ = std::max(1, cores);
}

void Engine::make_device(int i) {
  auto device = std::make_unique<Device>();
  device->budget = std::make_unique<Budget>(i);
  Budget* budget = device->budget.get();
  device->compute = std::make_unique<Queue>(Queue::Kind::compute, i, budget, window_);
  device->copy = std::make_unique<Queue>(Queue::Kind::copy, i, budget, window_);
  device->io = std::make_unique<Queue>(Queue::Kind::io, i, budget, window_);
  for (Queue* q : device->queues()) q->sleeping.store(1), q->make_room(window_.size());
  made_.push_back(device.get());
  devices_[i] = std::move(device);
}

// Its queues have no threads.
void Engine::serve_device(Device& device, int workers) {
  queues_.reserve(queues_.size() + 3);
  device.compute->wanted = workers;
  device.copy->wanted = workers > 0;
  device.io->wanted = workers > 0 ? io_threads_ : 0;
  for (Queue* q : device.queues()) {
    q->workers = q->wanted;
    queues_.push_back(q);
  }
  device.used.store(true);
}

void Engine::use_device(int i) {
  Lock held = lock();
  if (!devices_[i]) make_device(i);
  Device& device = *devices_[i];
  if (device.used.load()) return;
  const MemoryLimits& limits = shared_limits_;
  device.budget->soft.store(limits.soft), device.budget->hard.store(limits.hard),
      device.budget->aside.store(limits.aside);
  serve_device(device, workers_of_shared_);
  if (!started_) return;
  for (Queue* q : device.queues()) {
    if (!stopping_.load())
      start_queue(*q);
    else
      q->sleeping.fetch_sub(1),
          q->left = q->threads = q->wanted;  // as if they had stopped: they start when the others do
  }
}

void Engine::limit_shared(const MemoryLimits& limits) {
  Lock held = lock();
  shared_limits_ = limits;
  for (Device* device : made_)
    if (Budget& b = *device->budget; b.device >= n_devices_)
      b.soft.store(limits.soft), b.hard.store(limits.hard), b.aside.store(limits.aside);
}

size_t Engine::occupied_by_all() const {
  // Devices of an earlier configuration that nobody uses any more share nothing.
  auto shares = [&](const Device* device) { return device->budget->device >= n_devices_ && device->used.load(); };
  if (std::none_of(made_.begin(), made_.end(), shares)) return 0;
  size_t sum = 0;
  for (const Device* device : made_) sum += device->budget->occupied();
  return sum;
}

// As one budget would have it: an op that others precede on other devices leaves them the memory that they will take.
bool Engine::crowded(const Op& op) const {
  size_t all = occupied_by_all(), coming = 0, older = 0;
  if (op.to_take == 0 || op.inner || all == 0) return false;
  for (const Device* device : made_) coming += device->budget->coming();
  if (all + coming <= std::min(shared_limits_.soft_of_all, shared_limits_.hard_of_all)) return false;
  bool first = true;
  for (const Device* device : made_) {
    const Budget& budget = *device->budget;
    const Op* oldest = budget.first();
    if (&budget == op.budget || !oldest || oldest->seq > op.seq) continue;
    first = false;
    size_t more = budget.wanted_before(op);
    older = more == SIZE_MAX ? more : older + more;
    if (older == SIZE_MAX) return true;
  }
  return !first &&
         (all + op.to_take > shared_limits_.soft_of_all || all + op.to_take + older > shared_limits_.hard_of_all);
}

}  // namespace forerun
