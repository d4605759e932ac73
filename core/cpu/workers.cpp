#include "cpu/workers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "memory/cache.h"

namespace forerun {

namespace {

// Guarded by the engine's life cycle: threads are started under its lock and joined while none is started.
std::vector<std::thread>& threads() {
  static auto* all = new std::vector<std::thread>;
  return *all;
}

sigset_t front_end_mask;        // of the thread that has started the workers last
thread_local bool is_worker = false;

void before_fork() { Engine::get().before_fork(), MemoryCache::get().before_fork(); }
void after_fork(bool child) { MemoryCache::get().after_fork(), Engine::get().after_fork(child); }

double cgroup_cores() {
  std::string quota;
  double period = 0;
  if (std::ifstream("/sys/fs/cgroup/cpu.max") >> quota >> period && quota != "max" && period > 0) return std::stod(quota) / period;
  double v1 = 0, v1_period = 0;
  if (std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") >> v1 && v1 > 0)
    if (std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_period_us") >> v1_period && v1_period > 0) return v1 / v1_period;
  return 1e9;
}

}  // namespace

int granted_cores() {
  cpu_set_t set;
  int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, static_cast<int>(std::min<double>(cores, std::ceil(cgroup_cores()))));
}

size_t granted_memory() {
  size_t bytes = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGE_SIZE)), limit = 0;
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
    if (std::ifstream(path) >> limit && limit > 0) bytes = std::min(bytes, limit);
  return bytes;
}

void use_cpu_workers(Engine& engine) {
  engine.start_thread = [&engine](Queue& queue, int i) {
    // Signals belong to the front end's threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    front_end_mask = before;
    bool started = true;
    try {
      threads().emplace_back([&engine, &queue, i] {
        is_worker = true;
        const char* kinds[] = {"", "copy", "io"};
        char name[16];
        std::snprintf(name, sizeof name, "forerun-%d%s.%d", queue.device, kinds[static_cast<int>(queue.kind)], i);
        pthread_setname_np(pthread_self(), name);
        engine.serve(queue);
      });
    } catch (const std::exception&) {  // no memory, or too many threads
      started = false;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started;
  };
  engine.join_threads = [] {
    for (std::thread& thread : threads()) thread.join();
    threads().clear();
  };
  pthread_atfork(before_fork, [] { after_fork(false); }, [] { after_fork(true); });
  engine.trim = [] { return MemoryCache::get().trim(); };
}

FrontEndSignals::FrontEndSignals() {
  if (is_worker) pthread_sigmask(SIG_SETMASK, &front_end_mask, nullptr);
}

FrontEndSignals::~FrontEndSignals() {
  sigset_t all;
  sigfillset(&all);
  if (is_worker) pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

}  // namespace forerun
