// The engine's life cycle: gate, restart, fork, threads that start and end, and memory that cannot be allocated.
#include "program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "cpu/threads.h"
#include "memory/caching_allocator.h"

using namespace forerun;
using namespace forerun::test;

namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kForks = false;  // ThreadSanitizer does not follow threads of a child
#else
constexpr bool kForks = true;
#endif

// Runs until it is released.
class Held final : public Kernel {
 public:
  Held(std::atomic<bool>& started, std::atomic<bool>& go) : started_(started), go_(go) {}
  const char* name() const override { return "held"; }
  void run(Op&, int64_t) override {
    started_ = true;
    while (!go_) std::this_thread::yield();
  }

 private:
  std::atomic<bool>&started_, &go_;
};

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
  Buffer* buffer = Buffer::make(800, engine.devices[0].budget.get());
  buffer->retain_handle();
  Op* op = engine.make_op();
  op->queue = engine.devices[0].compute.get(), op->budget = engine.devices[0].budget.get();
  op->emplace<Fill>(1);
  op->add(buffer, Mode::write);
  engine.issue(op);
  check(!engine.waiter.wait(*buffer, std::chrono::milliseconds(5)),
        "a wait behind a closed gate comes back without the value");
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

// Another thread may hold a lock just when the process forks; the child must be able to take it.
void a_child_finds_no_lock_held() {
  if (!kForks) return;
  set_up({2});
  std::atomic<bool> over{false};
  std::thread busy([&] {
    for (int i = 0; !over; ++i) {
      CachingAllocator::get().give(CachingAllocator::get().take(1000), 1000);
      Engine::get().introspection.stats();
    }
  });
  for (int round = 0; round < 200; ++round) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);  // ends a child that hangs
      CachingAllocator::get().give(CachingAllocator::get().take(1000), 1000);
      Engine::get().introspection.stats();
      _exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    check(status == 0, "the child takes the locks");
    if (status) break;
  }
  over = true;
  busy.join();
}

void workers_that_are_not_to_stop_go_on() {
  set_up({3});
  Engine& engine = Engine::get();
  Program program(4, 8, true);
  for (int i = 0; i < 100; ++i) program.step();
  wait_all();
  std::atomic<bool> started{false}, go{false};
  auto hold = [&](std::atomic<bool>& started, std::atomic<bool>& go) {
    Op* op = engine.make_op();
    op->queue = engine.devices[0].compute.get(), op->budget = engine.devices[0].budget.get();
    op->cost = UINT32_MAX;  // it takes no core
    op->emplace<Held>(started, go);
    engine.issue(op);
  };
  hold(started, go);
  while (!started) std::this_thread::yield();
  check(!engine.stop_workers(std::chrono::milliseconds(20)), "not all workers have stopped while one is at work");
  engine.resume_workers();
  std::atomic<bool> others[2] = {false, false};
  for (auto& other : others) hold(other, go);
  for (auto& other : others)
    while (!other) std::this_thread::yield();  // as many workers as before
  go = true;
  for (int i = 0; i < 100; ++i) program.step();
  program.check_all();
  wait_all();  // the held ops have read `go` for the last time
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
  MemoryBudget& budget = *engine.devices[0].budget;
  budget.hard.store(budget.live.load() + (1 << 20));
  auto fill = [&](size_t bytes) {
    Buffer* buffer = Buffer::make(bytes, &budget);
    buffer->retain_handle();
    Op* op = engine.make_op();
    op->queue = engine.devices[0].compute.get(), op->budget = &budget;
    op->emplace<Fill>(5);
    op->add(buffer, Mode::write);
    engine.issue(op);
    return buffer;
  };
  Buffer *small = fill(1000), *large = fill(1 << 22), *later = fill(2000);
  for (Buffer* b : {small, large, later}) wait_for(*b);
  check(!small->failure && !later->failure, "arrays that fit are untouched");
  check(large->failure && large->failure->kind == ErrorKind::memory, "the large one failed for want of memory");
  FailureLog::Unseen unseen = engine.failures.take_unseen();
  check(!unseen.failures.empty() && unseen.failures.back() == large->failure, "the failure is kept for a later read");
  check(engine.failures.take_unseen().failures.empty(), "and reported once");
  for (Buffer* b : {small, large, later}) b->release_handle();
  budget.hard.store(SIZE_MAX);
}

}  // namespace

int main() {
  use_cpu_workers(Engine::get());
  nothing_starts_behind_a_closed_gate();
  workers_stop_and_start_again();
  a_child_goes_on_with_its_own_workers();
  a_child_finds_no_lock_held();
  workers_that_are_not_to_stop_go_on();
  front_end_threads_come_and_go();
  memory_that_cannot_be_had_is_a_failure_and_nothing_more();
  wait_all();
  stop_workers();
  return 0;
}
