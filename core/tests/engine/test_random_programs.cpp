// Random programs with all kinds of settings: workers, devices, front-end threads, window sizes, tight memory.
// `test_random_programs [rounds] [steps]`.
#include <thread>

#include "cpu/threads.h"
#include "program.h"

using namespace forerun;
using namespace forerun::test;

namespace {

struct Setup {
  const char* name;
  std::vector<int> workers;
  int cores, threads;
  uint64_t ops_ahead;
  size_t soft;  // bytes live from which on ops wait for older ones
  bool traced;
};

const Setup kSetups[] = {
    {"only the waiting thread", {0}, 1, 1, 1 << 12, SIZE_MAX, false},
    {"one worker", {1}, 1, 1, 1 << 12, SIZE_MAX, false},
    {"three workers", {3}, 3, 1, 1 << 12, SIZE_MAX, false},
    {"a window of sixteen ops", {2}, 2, 1, 16, SIZE_MAX, false},
    {"little memory", {3}, 3, 1, 1 << 12, 1 << 20, false},
    {"two devices that share a core", {1, 1}, 1, 1, 1 << 12, SIZE_MAX, false},
    {"two devices, recorded", {2, 2}, 4, 1, 1 << 12, SIZE_MAX, true},
    {"four front-end threads", {3}, 3, 4, 1 << 12, SIZE_MAX, false},
    {"four front-end threads, recorded", {3}, 3, 4, 1 << 12, SIZE_MAX, true},
    {"four front-end threads, two devices, little memory, a small window", {2, 2}, 3, 4, 64, 1 << 20, false},
};

void run_program(uint32_t seed, int steps) {
  Program program(seed, 24, true);
  for (int i = 0; i < steps; ++i) program.step();
  program.check_all();
}

void run(const Setup& setup, uint32_t seed, int steps) {
  Engine& engine = Engine::get();
  wait_all();
  stop_workers();
  engine.configure(setup.workers, setup.cores);
  engine.set_ops_ahead(setup.ops_ahead);
  for (int i = 0; i < engine.devices.size(); ++i) engine.devices[i].budget->soft.store(setup.soft);
  if (setup.traced) engine.introspection.record_into(nullptr);
  std::vector<std::thread> threads;
  for (int t = 1; t < setup.threads; ++t) threads.emplace_back(run_program, seed * 100 + t, steps);
  run_program(seed * 100, steps);
  for (std::thread& thread : threads) thread.join();
  wait_all();
  if (setup.traced) check(!engine.introspection.take_record().empty(), "events were recorded");
  check(engine.ring.idle(), "idle after waiting for everything");
  for (int i = 0; i < engine.devices.size(); ++i) {
    MemoryBudget& budget = *engine.devices[i].budget;
    check(budget.running == 0, "nothing runs");
    check(budget.reserved.load() == 0, "no memory is still reserved, got " + std::to_string(budget.reserved.load()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = argc > 1 ? std::atoi(argv[1]) : kSanitized ? 1 : 3, steps = argc > 2 ? std::atoi(argv[2]) : 2000;
  use_cpu_workers(Engine::get());
  for (const Setup& setup : kSetups) {
    std::printf("%s\n", setup.name);
    std::fflush(stdout);
    for (int round = 0; round < rounds; ++round) run(setup, round + 1, steps);
  }
  wait_all();
  stop_workers();
  for (int i = 0; i < Engine::get().devices.size(); ++i)
    check(Engine::get().devices[i].budget->live.load() == 0, "all memory came back");
  return 0;
}
