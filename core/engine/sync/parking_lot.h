// Workers that sleep. One is woken whose CPU no other thread is at work on, or it is taken to such a CPU.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/containers/intrusive_list.h"
#include "base/system/threads.h"

namespace forerun {

// On which CPUs threads are at work. Guarded by the engine's lock.
class CpuOccupancy {
 public:
  static int here() { return current_cpu(); }
  int begin() {  // of the calling thread; its CPU
    int cpu = here();
    if (at_work_[cpu]++ > 0) moves_ = kMoves;
    return cpu;
  }
  // Which tiles of an op it takes first: from the last one on, or from tile 0. Data that several ops use is then mostly
  // in the caches of the CPU that uses it.
  static bool takes_last(int cpu) { return cpu % 2 != 0; }
  void end(int cpu) { --at_work_[cpu]; }
  bool taken(int cpu) const { return at_work_[cpu] > 0; }
  // A thread that has just met another on its CPU says that the system places them badly: some virtual machines take
  // idle CPUs for busy ones. Elsewhere it knows better than we do, and is left alone.
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
  // The calling thread sleeps until it is woken, at most `limit`.
  void sleep(std::unique_lock<std::mutex>& held, std::chrono::microseconds limit);
  void wake_one(CpuOccupancy& cpus);  // the thread that was parked last, of those whose CPU is idle
  void wake_all();
  void forget() { all_ = {}; }  // they are threads of a parent process

 private:
  struct Parked {
    std::condition_variable wake;
    int cpu = CpuOccupancy::here();
    MovableThread thread;
    Parked *prev = nullptr, *next = nullptr;
    bool woken = false;  // it is in the list no more
  };
  void wake(Parked& parked);

  TwoWayList<Parked, &Parked::prev, &Parked::next> all_;  // in the order in which they were parked
};

}  // namespace forerun
