// Threads, as far as systems differ in them.
#pragma once
#ifdef __linux__
#include <pthread.h>
#include <sched.h>
#endif
#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <thread>

namespace forerun {

// --- signals ---------------------------------------------------------------------------------------------------------

#ifdef _WIN32
// Windows delivers signals to no thread that a program has started: handlers run in separate threads.
struct SignalMask {};
#else
using SignalMask = sigset_t;
#endif
SignalMask all_signals();
// From now on this thread blocks these signals and no others; returns those that it has blocked before.
SignalMask block_signals(const SignalMask& signals);

// Blocks all signals in this thread while it lives. Threads started meanwhile always block them: signals are for the
// front end's threads.
class SignalsBlocked {
 public:
  SignalsBlocked() : before_(block_signals(all_signals())) {}
  SignalsBlocked(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { block_signals(before_); }
  const SignalMask& before() const { return before_; }

 private:
  const SignalMask before_;
};

// --- of one thread ---------------------------------------------------------------------------------------------------

// Names a thread, for debuggers; only where a thread can name others. At most 15 characters.
void name_thread(std::thread& thread, const char* name);
uint64_t thread_cpu_ns();  // the CPU time of the calling thread

// --- CPUs ------------------------------------------------------------------------------------------------------------

#if defined(__linux__)
constexpr int kCpus = CPU_SETSIZE;
inline int current_cpu() { return std::max(0, sched_getcpu()) % kCpus; }
using CpuSet = cpu_set_t;
using ThreadId = pthread_t;
inline ThreadId this_thread_id() { return pthread_self(); }
#elif defined(_WIN32)
constexpr int kCpus = 1024;
int current_cpu();
struct CpuSet {  // of a group of at most 64
  uint64_t mask;
  uint16_t group;
};
using ThreadId = unsigned long;
ThreadId this_thread_id();
#else  // elsewhere the CPU of a thread is not known, and the system alone places threads
constexpr int kCpus = 1;
inline int current_cpu() { return 0; }
struct CpuSet {};
struct ThreadId {};
inline ThreadId this_thread_id() { return {}; }
#endif

// The thread that constructs it, to be moved to another CPU.
class MovableThread {
 public:
  // From any thread: restricts the thread to one CPU, the first allowed one for which `accepts` is true. If there is no
  // such CPU, nothing changes.
  void move(const std::function<bool(int cpu)>& accepts);
  void move_back();  // by the thread itself: removes the restriction, unless another thread has changed it

 private:
  const ThreadId thread_ = this_thread_id();
  CpuSet before_, moved_;  // allowed CPUs: before the move, and during it
  bool is_moved_ = false;
};

}  // namespace forerun
