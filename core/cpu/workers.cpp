#include "cpu/workers.h"

#include <pthread.h>
#include <signal.h>

#include <cstdio>
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

}  // namespace

void use_cpu_workers(Engine& engine) {
  engine.start_thread = [&engine](Queue& queue, int i) {
    // Signals belong to the front end's threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = true;
    try {
      threads().emplace_back([&engine, &queue, i] {
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
  engine.trim = [] { return MemoryCache::get().trim(); };
}

}  // namespace forerun
