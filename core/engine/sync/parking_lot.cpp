#include "engine/sync/parking_lot.h"

namespace forerun {

bool ParkingLot::sleep(Lock& held, std::chrono::microseconds limit) {
  Parked me;
  all_.push_back(&me);
  {
    std::unique_lock<std::mutex> own(me.mutex);
    held.unlock();
    const auto called = [&me] { return me.called; };
    if (limit == kForever)
      me.wake.wait(own, called);
    else
      me.wake.wait_for(own, limit, called);
  }
  relock(held);
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
  const std::lock_guard<std::mutex> own(parked.mutex);
  parked.called = true;
  parked.wake.notify_one();
}

}  // namespace forerun
