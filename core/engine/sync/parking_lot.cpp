#include "engine/sync/parking_lot.h"

namespace forerun {

bool ParkingLot::sleep(std::unique_lock<std::mutex>& held, std::chrono::microseconds limit) {
  Parked me;
  all_.push_back(&me);
  if (limit == kForever)
    me.wake.wait(held);
  else
    me.wake.wait_for(held, limit);
  if (!me.woken) all_.remove(&me);
  me.thread.move_back();
  return me.woken;
}

void ParkingLot::wake_one(CpuOccupancy& cpus) {
  const int here = CpuOccupancy::here();
  Parked *found = nullptr, *last = nullptr;
  for (Parked* s = all_.front(); s; s = s->next) {
    if (s->cpu != here && !cpus.taken(s->cpu)) found = s;
    last = s;
  }
  if (!last) return;
  if (!found && cpus.may_move())  // to one free CPU, until it has woken up
    last->thread.move([&cpus, here](int cpu) { return cpu != here && !cpus.taken(cpu); });
  wake(found ? *found : *last);
}

void ParkingLot::wake_all() {
  while (!all_.empty()) wake(*all_.front());
}

void ParkingLot::wake(Parked& parked) {
  all_.remove(&parked);
  parked.woken = true;
  parked.wake.notify_one();
}

}  // namespace forerun
