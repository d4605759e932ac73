#include "cpu/threads.h"

#include <cstdio>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "base/system/fork.h"
#include "base/system/threads.h"
#include "memory/caching_allocator.h"

namespace forerun {

namespace {

// Guarded by the engine's life cycle: threads are started under its lock and joined while none is started.
std::vector<std::thread>& threads() {
  static auto* all = new std::vector<std::thread>;
  return *all;
}

SignalMask front_end_mask;  // of the thread that has started the workers last
thread_local bool is_worker = false;

void before_fork() { Engine::get().before_fork(), CachingAllocator::get().before_fork(); }
void after_fork(bool child) {
  // The parent's threads do not exist in the child and cannot be joined.
  if (child) new (&threads()) std::vector<std::thread>;
  CachingAllocator::get().after_fork(child), Engine::get().after_fork(child);
}

// False: the system could not start a thread.
template <class F>
bool start(const char* name, F life) {
  const SignalsBlocked blocked;
  front_end_mask = blocked.before();
  try {
    threads().emplace_back([life] {
      is_worker = true;
      life();
    });
    name_thread(threads().back(), name);
  } catch (const std::exception&) {  // out of memory, or too many threads
    return false;
  }
  return true;
}

}  // namespace

void use_cpu_workers(Engine& engine) {
  engine.pool.make_thread = [&engine](Queue& queue, int i) {
    const char* kinds[] = {"", "copy", "io"};
    char name[16];
    std::snprintf(name, sizeof name, "forerun-%d%s.%d", queue.device, kinds[static_cast<int>(queue.kind)], i);
    return start(name, [&engine, &queue] { engine.dispatcher.serve(queue); });
  };
  engine.pool.make_relief_thread = [&engine] {
    return start("forerun-await", [&engine] { engine.waiter.serve_relief(); });
  };
  engine.pool.join_threads = [] {
    for (std::thread& thread : threads()) thread.join();
    threads().clear();
  };
  at_fork(before_fork, [] { after_fork(false); }, [] { after_fork(true); });
  engine.executor.trim = [] { return CachingAllocator::get().trim(); };
}

FrontEndSignals::FrontEndSignals() {
  if (is_worker) block_signals(front_end_mask);
}

FrontEndSignals::~FrontEndSignals() {
  if (is_worker) block_signals(all_signals());
}

}  // namespace forerun
