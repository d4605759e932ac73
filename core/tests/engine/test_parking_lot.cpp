// Parked workers: which one is woken, and on which CPU.
#include "engine/sync/parking_lot.h"

#include <atomic>
#include <thread>

#include "program.h"

using namespace forerun;
using namespace forerun::test;

namespace {

using Lock = std::unique_lock<std::mutex>;

cpu_set_t only(std::initializer_list<int> cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : cpus) CPU_SET(cpu, &set);
  return set;
}

void allow(pthread_t thread, const cpu_set_t& set) {
  check(pthread_setaffinity_np(thread, sizeof set, &set) == 0, "a thread may be put on a CPU");
}

bool may(pthread_t thread, const cpu_set_t& set) {
  cpu_set_t now;
  return pthread_getaffinity_np(thread, sizeof now, &now) == 0 && CPU_EQUAL(&now, &set);
}

std::mutex mutex;
ParkingLot parked;

// A thread that parks on a CPU.
struct ParkedThread {
  bool asleep = false;  // guarded by mutex
  std::atomic<bool> up{false}, leave{false};
  std::thread thread;

  explicit ParkedThread(int cpu, std::chrono::microseconds limit = ParkingLot::kForever)
      : thread([this, cpu, limit] {
          allow(pthread_self(), only({cpu}));
          Lock held(mutex);
          asleep = true;
          parked.sleep(held, limit);
          up.store(true);
          held.unlock();
          while (!leave.load()) std::this_thread::yield();
        }) {
    for (bool now = false; !now; now = is_asleep()) std::this_thread::yield();
  }
  ~ParkedThread() { leave.store(true), thread.join(); }
  bool is_asleep() {
    Lock held(mutex);
    return asleep;
  }
  void wait_until_up() const {
    while (!up.load()) std::this_thread::yield();
  }
};

void wake_one(CpuOccupancy& places) {
  Lock held(mutex);
  parked.wake_one(places);
}

void wake_all() {
  Lock held(mutex);
  parked.wake_all();
}

// The last of those whose CPU is free: it is not the caller's, and no thread works on it.
void chooses(int here, int other) {
  for (bool first : {false, true}) {
    CpuOccupancy places;
    ParkedThread one(first ? other : here), two(first ? here : other);
    ParkedThread &free = first ? one : two, &taken = first ? two : one;
    wake_one(places);
    free.wait_until_up();
    check(!taken.up.load(), "whose CPU the caller has sleeps on");
    wake_one(places);
    taken.wait_until_up();
  }
  CpuOccupancy places;
  allow(pthread_self(), only({other}));
  check(places.begin() == other && places.taken(other) && !places.taken(here), "a working thread occupies its CPU");
  allow(pthread_self(), only({here}));
  ParkedThread one(other), two(here);
  wake_one(places);  // both CPUs are taken
  two.wait_until_up();
  check(!one.up.load(), "of those whose CPU is taken the last is woken");
  places.end(other);
  check(!places.taken(other), "a thread that has ended leaves its CPU");
  wake_all();
  one.wait_until_up();
}

// A thread whose CPU is taken wakes up on a free one, if the system has been seen to place threads badly, and may
// afterwards run anywhere again.
void moves(int here, int other) {
  const cpu_set_t both = only({here, other});
  for (bool badly : {false, true}) {
    CpuOccupancy places;
    places.begin();
    if (badly) places.begin(), places.end(here);
    places.end(here);
    for (bool others : {false, true}) {  // whether other threads change its CPUs meanwhile
      ParkedThread parked_thread(here);
      pthread_t thread = parked_thread.thread.native_handle();
      allow(thread, both);
      {
        Lock held(mutex);
        parked.wake_one(places);
        check(may(thread, badly ? only({other}) : both),
              badly ? "it wakes up on the free CPU" : "it wakes up where the system puts it");
        if (others) allow(thread, only({here}));
      }
      parked_thread.wait_until_up();
      check(may(thread, others ? only({here}) : both),
            others ? "CPUs set by another thread are kept" : "it may run where it might before");
    }
  }
  CpuOccupancy places;
  places.begin(), places.begin();
  for (bool taken : {false, true}) {
    ParkedThread parked_thread(here);  // and may not leave it, or there is no free CPU
    pthread_t thread = parked_thread.thread.native_handle();
    if (taken) {
      allow(thread, both);
      allow(pthread_self(), only({other}));
      places.begin();
      allow(pthread_self(), only({here}));
    }
    {
      Lock held(mutex);
      parked.wake_one(places);
      check(may(thread, taken ? both : only({here})),
            taken ? "no thread is moved to a taken CPU" : "no thread is moved where it may not run");
    }
    parked_thread.wait_until_up();
  }
}

void ends_by_itself(int here, int other) {
  CpuOccupancy places;
  ParkedThread parked_thread(here);
  ParkedThread late(other, std::chrono::microseconds(100));
  late.wait_until_up();
  wake_one(places);  // only one is parked
  parked_thread.wait_until_up();
}

}  // namespace

int main() {
  cpu_set_t mine;
  check(sched_getaffinity(0, sizeof mine, &mine) == 0, "the CPUs are known");
  int cpus[2] = {-1, -1}, n = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE && n < 2; ++cpu)
    if (CPU_ISSET(cpu, &mine)) cpus[n++] = cpu;
  allow(pthread_self(), only({cpus[0]}));
  if (n < 2) return 0;  // there is no choice
  ends_by_itself(cpus[0], cpus[1]);
  chooses(cpus[0], cpus[1]);
  moves(cpus[0], cpus[1]);
  return 0;
}
