// The engine's life: gate, restart, fork, threads that come and go, memory that cannot be had.
#include "program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "cpu/workers.h"

using namespace forerun;
using namespace forerun::test;

namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kForks = false;  // ThreadSanitizer does not follow threads of a child
#else
constexpr bool kForks = true;
#endif

void set_up(const std::vector<int>& workers) {
  wait_all();
  stop_workers();
  Engine::get().configure(workers, 2);
}

void nothing_starts_behind_a_closed_gate() {
  set_up({2});
  Engine& engine = Engine::get();
  engine.gate(true);
  Program program(1, 8, false);
  Buffer* buffer = Buffer::make(800, engine.device(0).budget.get());
  buffer->retain_handle();
  Op* op = engine.make_op();
  op->queue = engine.device(0).compute.get(), op->budget = engine.device(0).budget.get();
  op->emplace<Fill>(1);
  op->add(buffer, Mode::write);
  engine.issue(op);
  check(!engine.wait(*buffer, std::chrono::milliseconds(5)), "a wait behind a closed gate comes back without the value");
  engine.gate(false);
  wait_for(*buffer);
  check(reinterpret_cast<uint64_t*>(buffer->data())[99] == 100, "the value is there once the gate is open");
  buffer->release_handle();
  program.check_all();
}

void workers_stop_and_start_again() {
  set_up({2});
  Program program(2, 16, true);
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 50; ++i) program.step();
    wait_all();
    stop_workers();
  }
  program.check_all();
}

void a_child_goes_on_with_its_own_workers() {
  if (!kForks) return;
  set_up({2});
  Program program(3, 16, true);
  for (int i = 0; i < 200; ++i) program.step();
  wait_all();
  stop_workers();
  pid_t child = fork();
  for (int i = 0; i < 500; ++i) program.step();
  program.check_all();
  if (child == 0) _exit(0);
  int status = 1;
  waitpid(child, &status, 0);
  check(status == 0, "the child's values are right");
}

void front_end_threads_come_and_go() {
  set_up({2});
  for (int round = 0; round < 10; ++round) {
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < 4; ++t)
      threads.emplace_back([=] {
        Program program(100 * round + t, 6, true);
        for (int i = 0; i < 60; ++i) program.step();
        if (t % 2) program.check_all();  // the others end with work still pending
      });
    for (std::thread& thread : threads) thread.join();
  }
  wait_all();
}

void memory_that_cannot_be_had_is_a_failure_and_nothing_more() {
  set_up({2});
  Engine& engine = Engine::get();
  Budget& budget = *engine.device(0).budget;
  budget.hard.store(budget.live.load() + (1 << 20));
  auto fill = [&](size_t bytes) {
    Buffer* buffer = Buffer::make(bytes, &budget);
    buffer->retain_handle();
    Op* op = engine.make_op();
    op->queue = engine.device(0).compute.get(), op->budget = &budget;
    op->emplace<Fill>(5);
    op->add(buffer, Mode::write);
    engine.issue(op);
    return buffer;
  };
  Buffer *small = fill(1000), *large = fill(1 << 22), *later = fill(2000);
  for (Buffer* b : {small, large, later}) wait_for(*b);
  check(!small->failure && !later->failure, "arrays that fit are untouched");
  check(large->failure && large->failure->kind == ErrorKind::memory, "the large one failed for want of memory");
  Engine::Unseen unseen = engine.take_unseen();
  check(unseen.failures == std::vector{large->failure} && unseen.unkept == 0, "the failure is kept for whoever asks");
  check(engine.take_unseen().failures.empty(), "and told once");
  for (Buffer* b : {small, large, later}) b->release_handle();
  budget.hard.store(SIZE_MAX);
}

}  // namespace

int main() {
  use_cpu_workers(Engine::get());
  nothing_starts_behind_a_closed_gate();
  workers_stop_and_start_again();
  a_child_goes_on_with_its_own_workers();
  front_end_threads_come_and_go();
  memory_that_cannot_be_had_is_a_failure_and_nothing_more();
  wait_all();
  stop_workers();
  return 0;
}
