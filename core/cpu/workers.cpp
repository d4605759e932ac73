#include "cpu/workers.h"

#include <pthread.h>
#include <signal.h>

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
    threads().emplace_back([&engine, &queue, i] {
      const char* kinds[] = {"", "copy", "io"};
      std::string name = "forerun-" + std::to_string(queue.device) + kinds[static_cast<int>(queue.kind)] + "." + std::to_string(i);
      pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
      engine.serve(queue);
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  };
  engine.join_threads = [] {
    for (std::thread& thread : threads()) thread.join();
    threads().clear();
  };
  engine.trim = [] { return MemoryCache::get().trim(); };
}

}  // namespace forerun
