// Parked workers. A wake-up prefers one whose CPU is idle, or moves one to such a CPU.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/containers/intrusive_list.h"
#include "base/system/threads.h"
#include "engine/sync/lock.h"

namespace forerun {

// The CPUs on which threads are working. Guarded by the engine's lock.
class CpuOccupancy {
 public:
  static int here() { return current_cpu(); }
  int begin() {  // by the calling thread; returns its CPU
    int cpu = here();
    if (at_work_[cpu]++ > 0) moves_ = kMoves;
    return cpu;
  }
  // Whether the thread takes an op's tiles from the last one on, not from tile 0. Data used by several ops is then
  // mostly in the caches of the CPU that uses it.
  static bool takes_last(int cpu) { return cpu % 2 != 0; }
  void end(int cpu) { --at_work_[cpu]; }
  bool taken(int cpu) const { return at_work_[cpu] > 0; }
  // A thread that has just met another one on its CPU reports that the system places them badly: some virtual machines
  // take idle CPUs for busy ones. Otherwise the system knows better than the engine, and threads are not moved.
  bool may_move() { return moves_ > 0 && moves_--; }

 private:
  static constexpr int kMoves = 64;
  int at_work_[kCpus] = {};  // threads
  int moves_ = 0;            // how many parked threads may still be moved
};

// Guarded by the engine's lock.
class ParkingLot {
 public:
  static constexpr std::chrono::microseconds kForever{0};
  // The calling thread sleeps until it is woken, at most `limit`. False: the limit has passed.
  bool sleep(Lock& held, std::chrono::microseconds limit);
  void wake_one(CpuOccupancy& cpus);  // the thread that was parked last, of those whose CPU is idle
  void wake_all();
  void forget() { all_ = {}; }  // they are threads of the parent process

 private:
  struct Parked {
    // Of its own, so that it does not wait for the engine's lock inside the system: the thread that wakes it holds that
    // while it does so.
    std::mutex mutex;
    std::condition_variable wake;
    bool called = false;  // guarded by this mutex
    int cpu = CpuOccupancy::here();
    MovableThread thread;
    Parked *prev = nullptr, *next = nullptr;
    bool woken = false;  // it is no longer in the list
  };
  void wake(Parked& parked);

  TwoWayList<Parked, &Parked::prev, &Parked::next> all_;  // in the order in which they were parked
};

}  // namespace forerun
