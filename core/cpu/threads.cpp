#include "cpu/threads.h"

#include <pthread.h>
#include <signal.h>

#include <cstdio>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "memory/caching_allocator.h"

namespace forerun {

namespace {

// Guarded by the engine's life cycle: threads are started under its lock and joined while none is started.
std::vector<std::thread>& threads() {
  static auto* all = new std::vector<std::thread>;
  return *all;
}

sigset_t front_end_mask;  // of the thread that has started the workers last
thread_local bool is_worker = false;

void before_fork() { Engine::get().before_fork(), CachingAllocator::get().before_fork(); }
void after_fork(bool child) {
  if (child) new (&threads()) std::vector<std::thread>;  // those of the parent are not there to be joined
  CachingAllocator::get().after_fork(child), Engine::get().after_fork(child);
}

// False: the system gives no thread.
template <class F>
bool start([[maybe_unused]] const char* name, F life) {
  // Signals belong to the front end's threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  front_end_mask = before;
  bool started = true;
  try {
    threads().emplace_back([life] {
      is_worker = true;
      life();
    });
#ifdef __linux__  // elsewhere a thread names but itself
    pthread_setname_np(threads().back().native_handle(), name);
#endif
  } catch (const std::exception&) {  // no memory, or too many threads
    started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
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
  pthread_atfork(before_fork, [] { after_fork(false); }, [] { after_fork(true); });
  engine.executor.trim = [] { return CachingAllocator::get().trim(); };
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
