#include "engine/sync/parking_lot.h"

namespace forerun {

void ParkingLot::sleep(std::unique_lock<std::mutex>& held, std::chrono::microseconds limit) {
  Sleeper me;
  all_.push_back(&me);
  if (limit == kForever)
    me.wake.wait(held);
  else
    me.wake.wait_for(held, limit);
  if (!me.woken) all_.remove(&me);
  if (!me.is_moved) return;
  cpu_set_t now;
  bool ours = pthread_getaffinity_np(me.thread, sizeof now, &now) == 0 &&
              CPU_EQUAL(&now, &me.moved);  // and nobody else's since
  if (ours) pthread_setaffinity_np(me.thread, sizeof me.before, &me.before);
}

void ParkingLot::wake_one(CpuOccupancy& places) {
  const int here = CpuOccupancy::here();
  Sleeper *found = nullptr, *last = nullptr;
  for (Sleeper* s = all_.front(); s; s = s->next) {
    if (s->cpu != here && !places.taken(s->cpu)) found = s;
    last = s;
  }
  if (!last) return;
  if (!found && places.may_move()) move(*last, places);
  wake(found ? *found : *last);
}

void ParkingLot::wake_all() {
  while (!all_.empty()) wake(*all_.front());
}

void ParkingLot::wake(Sleeper& sleeper) {
  all_.remove(&sleeper);
  sleeper.woken = true;
  sleeper.wake.notify_one();
}

// It may run on one free CPU alone, until it has woken up.
void ParkingLot::move(Sleeper& sleeper, const CpuOccupancy& places) {
  const int here = CpuOccupancy::here();
  if (pthread_getaffinity_np(sleeper.thread, sizeof sleeper.before, &sleeper.before) != 0) return;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (cpu == here || !CPU_ISSET(cpu, &sleeper.before) || places.taken(cpu)) continue;
    CPU_ZERO(&sleeper.moved);
    CPU_SET(cpu, &sleeper.moved);
    sleeper.is_moved = pthread_setaffinity_np(sleeper.thread, sizeof sleeper.moved, &sleeper.moved) == 0;
    return;
  }
}

}  // namespace forerun
