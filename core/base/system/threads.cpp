#include "base/system/threads.h"

#if defined(_WIN32)
#include "base/system/windows.h"
#else
#include <time.h>
#endif

namespace forerun {

#if defined(_WIN32)
SignalMask all_signals() { return {}; }

SignalMask block_signals(const SignalMask&) { return {}; }

void name_thread(std::thread& thread, const char* name) {
  SetThreadDescription(static_cast<HANDLE>(thread.native_handle()), wide(name).c_str());
}

uint64_t thread_cpu_ns() {
  FILETIME created, ended, system, own;
  if (!GetThreadTimes(GetCurrentThread(), &created, &ended, &system, &own)) return 0;
  const auto units = [](FILETIME t) { return uint64_t{t.dwHighDateTime} << 32 | t.dwLowDateTime; };  // of 100 ns
  return (units(system) + units(own)) * 100;
}

int current_cpu() {
  PROCESSOR_NUMBER at;
  GetCurrentProcessorNumberEx(&at);
  return (at.Group * 64 + at.Number) % kCpus;
}

ThreadId this_thread_id() { return GetCurrentThreadId(); }

namespace {

class ThreadHandle {
 public:
  explicit ThreadHandle(ThreadId thread)
      : handle_(OpenThread(THREAD_SET_INFORMATION | THREAD_QUERY_INFORMATION, FALSE, thread)) {}
  ThreadHandle(const ThreadHandle&) = delete;
  ~ThreadHandle() {
    if (handle_) CloseHandle(handle_);
  }
  bool get(CpuSet& cpus) const {
    GROUP_AFFINITY affinity;
    if (!handle_ || !GetThreadGroupAffinity(handle_, &affinity)) return false;
    cpus = {affinity.Mask, affinity.Group};
    return true;
  }
  bool set(const CpuSet& cpus) const {
    const GROUP_AFFINITY affinity{static_cast<KAFFINITY>(cpus.mask), cpus.group, {}};
    return handle_ && SetThreadGroupAffinity(handle_, &affinity, nullptr);
  }

 private:
  const HANDLE handle_;
};

}  // namespace

void MovableThread::move(const std::function<bool(int cpu)>& accepts) {
  const ThreadHandle thread(thread_);
  if (!thread.get(before_)) return;
  for (int i = 0; i < 64; ++i) {
    const uint64_t bit = uint64_t{1} << i;
    if (!(before_.mask & bit) || !accepts((before_.group * 64 + i) % kCpus)) continue;
    moved_ = {bit, before_.group};
    is_moved_ = thread.set(moved_);
    return;
  }
}

void MovableThread::move_back() {
  if (!is_moved_) return;
  const ThreadHandle thread(thread_);
  CpuSet now;
  if (thread.get(now) && now.mask == moved_.mask && now.group == moved_.group) thread.set(before_);
}
#else
SignalMask all_signals() {
  SignalMask all;
  sigfillset(&all);
  return all;
}

SignalMask block_signals(const SignalMask& signals) {
  SignalMask before;
  pthread_sigmask(SIG_SETMASK, &signals, &before);
  return before;
}

uint64_t thread_cpu_ns() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

#ifdef __linux__
void name_thread(std::thread& thread, const char* name) { pthread_setname_np(thread.native_handle(), name); }

void MovableThread::move(const std::function<bool(int cpu)>& accepts) {
  if (pthread_getaffinity_np(thread_, sizeof before_, &before_) != 0) return;
  for (int cpu = 0; cpu < kCpus; ++cpu) {
    if (!CPU_ISSET(cpu, &before_) || !accepts(cpu)) continue;
    CPU_ZERO(&moved_);
    CPU_SET(cpu, &moved_);
    is_moved_ = pthread_setaffinity_np(thread_, sizeof moved_, &moved_) == 0;
    return;
  }
}

void MovableThread::move_back() {
  if (!is_moved_) return;
  cpu_set_t now;
  bool unchanged = pthread_getaffinity_np(thread_, sizeof now, &now) == 0 && CPU_EQUAL(&now, &moved_);
  if (unchanged) pthread_setaffinity_np(thread_, sizeof before_, &before_);
}
#else
void name_thread(std::thread&, const char*) {}  // a thread can name only itself
void MovableThread::move(const std::function<bool(int cpu)>&) {}
void MovableThread::move_back() {}
#endif
#endif

}  // namespace forerun
