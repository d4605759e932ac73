#include "engine/sync/parking_lot.h"

namespace forerun {

void ParkingLot::sleep(std::unique_lock<std::mutex>& held, std::chrono::microseconds limit) {
  Parked me;
  all_.push_back(&me);
  if (limit == kForever)
    me.wake.wait(held);
  else
    me.wake.wait_for(held, limit);
  if (!me.woken) all_.remove(&me);
  move_back(me);
}

void ParkingLot::wake_one(CpuOccupancy& cpus) {
  const int here = CpuOccupancy::here();
  Parked *found = nullptr, *last = nullptr;
  for (Parked* s = all_.front(); s; s = s->next) {
    if (s->cpu != here && !cpus.taken(s->cpu)) found = s;
    last = s;
  }
  if (!last) return;
  if (!found && cpus.may_move()) move(*last, cpus);
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

#ifdef __linux__
// It may run on one free CPU alone, until it has woken up.
void ParkingLot::move(Parked& parked, const CpuOccupancy& cpus) {
  const int here = CpuOccupancy::here();
  if (pthread_getaffinity_np(parked.thread, sizeof parked.before, &parked.before) != 0) return;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (cpu == here || !CPU_ISSET(cpu, &parked.before) || cpus.taken(cpu)) continue;
    CPU_ZERO(&parked.moved);
    CPU_SET(cpu, &parked.moved);
    parked.is_moved = pthread_setaffinity_np(parked.thread, sizeof parked.moved, &parked.moved) == 0;
    return;
  }
}

void ParkingLot::move_back(Parked& parked) {
  if (!parked.is_moved) return;
  cpu_set_t now;
  bool unchanged = pthread_getaffinity_np(parked.thread, sizeof now, &now) == 0 &&
                   CPU_EQUAL(&now, &parked.moved);  // and no other thread has changed it since
  if (unchanged) pthread_setaffinity_np(parked.thread, sizeof parked.before, &parked.before);
}
#else  // the system places threads alone
void ParkingLot::move(Parked&, const CpuOccupancy&) {}
void ParkingLot::move_back(Parked&) {}
#endif

}  // namespace forerun
