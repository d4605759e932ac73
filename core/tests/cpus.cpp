// Workers that find themselves on one CPU part, and a thread that leaves a CPU may use the same ones as before.
#include "program.h"

#include <sched.h>

#include <atomic>
#include <thread>

#include "cpu/workers.h"

using namespace forerun;
using namespace forerun::test;

namespace {

// Two tiles, each of which ends when both have begun: two threads run it.
class Pair final : public Kernel {
 public:
  explicit Pair(std::atomic<int>& begun) : begun_(begun) {}
  const char* name() const override { return "pair"; }
  int64_t tiles() const override { return 2; }
  void run(Op&, int64_t) override {
    ++begun_;
    while (begun_ < 2) std::this_thread::yield();
  }

 private:
  std::atomic<int>& begun_;
};

// Runs a pair on the workers alone: this thread does not help.
void run_pair() {
  Engine& engine = Engine::get();
  Buffer* buffer = Buffer::make(800, engine.device(0).budget.get());
  buffer->retain_handle();
  std::atomic<int> begun{0};
  Op* op = engine.make_op();
  op->queue = engine.device(0).compute.get(), op->budget = engine.device(0).budget.get();
  op->cost = 1'000'000;
  op->emplace<Pair>(begun);
  op->add(buffer, Mode::write);
  engine.issue(op);
  while (!buffer->settled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  buffer->release_handle();
  wait_all();
}

thread_local int cpu = 5;
std::atomic<int> moves{0};

void workers_on_one_cpu_part() {
  Engine& engine = Engine::get();
  engine.configure({2}, 2);
  engine.this_cpu = [] { return cpu; };
  engine.leave_cpu = [](const Engine::Cpus& taken) {
    check(taken[5] && taken.count() == 1, "what is taken is the one CPU on which both are");
    cpu = 7, ++moves;
  };
  run_pair();
  check(moves == 1, "of two workers on one CPU, the second leaves it");
  run_pair();
  check(moves == 1, "workers that have parted stay where they are");
  stop_workers();
}

void a_thread_that_leaves_a_cpu_may_come_back() {
  Engine& engine = Engine::get();
  use_cpu_workers(engine);
  cpu_set_t before, after;
  check(sched_getaffinity(0, sizeof before, &before) == 0, "there are no more CPUs than the test knows");
  for (int i = 0; i < 20; ++i) {
    int here = engine.this_cpu();
    Engine::Cpus taken;
    taken[static_cast<size_t>(here)] = true;
    engine.leave_cpu(taken);
    check(CPU_COUNT(&before) == 1 || engine.this_cpu() != here, "the thread is elsewhere, if it may be");
    engine.leave_cpu(taken.set());
    check(sched_getaffinity(0, sizeof after, &after) == 0 && CPU_EQUAL(&before, &after), "it may use the CPUs that it could use before");
  }
}

}  // namespace

int main() {
  use_cpu_workers(Engine::get());
  workers_on_one_cpu_part();
  a_thread_that_leaves_a_cpu_may_come_back();
}
