// Small work runs in the thread that issues it, with the same values, order and failures.
#include "program.h"

#include <atomic>
#include <mutex>
#include <thread>

#include "cpu/threads.h"

using namespace forerun;
using namespace forerun::test;

namespace {

std::atomic<std::thread::id> ran_in;  // the thread of the last step

// Adds one to each element, and records its thread.
struct Step final : Kernel {
  const char* name() const override { return "step"; }
  bool droppable() const override { return false; }
  void run(Op& op, int64_t) override {
    ran_in = std::this_thread::get_id();
    auto* values = reinterpret_cast<uint64_t*>(static_cast<Buffer*>(op.access(0).storage)->data());
    for (size_t i = 0, n = op.access(0).storage->bytes / 8; i < n; ++i) ++values[i];
  }
};

struct Failing final : Kernel {
  const char* name() const override { return "failing"; }
  bool droppable() const override { return false; }
  void run(Op& op, int64_t) override {
    throw Error(ErrorKind::value, "failing: told to, got " + std::to_string(op.site));
  }
};

// Runs until it is released.
class Held final : public Kernel {
 public:
  explicit Held(std::atomic<bool>& go) : go_(go) {}
  const char* name() const override { return "held"; }
  void run(Op&, int64_t) override {
    while (!go_) std::this_thread::yield();
  }

 private:
  std::atomic<bool>& go_;
};

Op* op_of(uint32_t cost) {
  Engine& engine = Engine::get();
  Op* op = engine.make_op();
  op->queue = engine.devices[0].compute.get(), op->budget = engine.devices[0].budget.get();
  op->cost = cost;
  return op;
}

// As in the front end.
bool issue(Op* op) {
  Engine& engine = Engine::get();
  if (engine.at_once.fits(*op) && engine.run_at_once(op)) return true;
  engine.issue(op);
  return false;
}

struct Numbers {
  Buffer* buffer = Buffer::make(80, Engine::get().devices[0].budget.get());
  Numbers() {
    buffer->retain_handle();
    Op* op = op_of(100);
    op->emplace<Fill>(5);
    op->add(buffer, Mode::write);
    issue(op);
  }
  Numbers(const Numbers&) = delete;
  ~Numbers() { buffer->release_handle(); }
  uint64_t first() {
    wait_for(*buffer);
    return *reinterpret_cast<uint64_t*>(buffer->data());
  }
};

bool step(Numbers& numbers, uint32_t cost = 100) {
  Op* op = op_of(cost);
  op->emplace<Step>();
  op->add(numbers.buffer, Mode::update);
  return issue(op);
}

bool fail(Numbers& numbers, uint32_t site) {
  Op* op = op_of(100);
  op->site = site;
  op->emplace<Failing>();
  op->add(numbers.buffer, Mode::update);
  return issue(op);
}

void add(Numbers& to, Numbers& a, Numbers& b) {
  Op* op = op_of(100);
  op->emplace<Mix>(1, 0, false, false);
  op->add(to.buffer, Mode::write), op->add(a.buffer, Mode::read), op->add(b.buffer, Mode::read);
  issue(op);
}

void set_up(const std::vector<int>& workers) {
  wait_all();
  stop_workers();
  Engine::get().configure(workers, 2);
}

void small_work_runs_here_without_a_worker() {
  set_up({2});
  EngineStats before = Engine::get().introspection.stats();
  uint64_t mark = Engine::get().ring.next();
  Numbers numbers;
  check(step(numbers), "it has run in the call");
  check(ran_in.load() == std::this_thread::get_id() && numbers.buffer->settled() && numbers.first() == 6, "here");
  check(!step(numbers, 50'000), "work that costs more is issued");
  check(numbers.first() == 7, "and runs, too");
  EngineStats now = Engine::get().introspection.stats();
  check(now.at_once == before.at_once + 2 && now.issued == before.issued + 3 && now.ended == before.ended + 3,
        "they are counted");
  check(Engine::get().ring.next() == mark + 1, "those that ran at once took no number");
}

void the_gate_holds_it() {
  set_up({2});
  Numbers numbers;
  Engine::get().gate(true);
  check(!step(numbers), "it is issued");
  check(!numbers.buffer->settled(), "and does not run");
  Engine::get().gate(false);
  check(numbers.first() == 6, "until the gate is open");
}

// A running operation reads a storage that is to be written: the write waits for it.
void a_pending_read_comes_first() {
  set_up({2});
  Numbers numbers, copy;
  std::atomic<bool> go{false};
  Op* held = op_of(1'000'000);
  held->emplace<Held>(go);
  Numbers late;
  held->add(late.buffer, Mode::update), held->add(numbers.buffer, Mode::read);
  check(!issue(held), "it costs too much");
  add(copy, numbers, late);
  check(!step(numbers), "it waits for the reads");
  Numbers other;
  check(step(other), "an unrelated operation does not wait");
  go = true;
  check(copy.first() == 5 + 7 * 5, "the read sees the old values");
  check(numbers.first() == 6, "the write came behind it");
}

void failures_poison_in_order() {
  set_up({2});
  Engine& engine = Engine::get();
  Numbers a, b, sum;
  check(fail(a, 1) && fail(b, 2), "they have failed in the call");
  check(a.buffer->failure && a.buffer->failure->message == "failing: told to, got 1", "the first is bad");
  for (bool turned : {false, true}) {
    turned ? add(sum, b, a) : add(sum, a, b);
    wait_for(*sum.buffer);
    check(sum.buffer->failure == a.buffer->failure, "of two failures the one that was issued first counts");
  }
  Numbers queued;
  engine.gate(true);
  fail(queued, 3);
  engine.gate(false);
  wait_for(*queued.buffer);
  add(sum, queued, b);
  wait_for(*sum.buffer);
  check(sum.buffer->failure == b.buffer->failure, "also if the other one had a number");
  check(engine.failures.take_unseen().failures.size() == 3, "they have not been raised");
  check(!step(a), "an operation after a failure is issued");
  wait_for(*a.buffer);
  check(a.buffer->failure != nullptr, "and does not run");
}

// As under the interpreter lock: one thread at a time issues, but workers run meanwhile.
void threads_take_turns() {
  set_up({3});
  std::mutex front_end;
  std::vector<std::thread> threads;
  Numbers shared;
  for (uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < (kSanitized ? 500 : 5000); ++i) {
        std::lock_guard<std::mutex> held(front_end);
        step(shared, random() % 3 ? 100 : 50'000);
      }
    });
  for (std::thread& thread : threads) thread.join();
  check(shared.first() == 5 + 4 * (kSanitized ? 500 : 5000), "every step has been made once");
}

void a_new_op_has_no_cost() {
  Engine& engine = Engine::get();
  engine.discard(op_of(UINT32_MAX));
  Op* op = engine.make_op();
  check(op->cost == 0 && !op->is_task(), "an op does not keep the cost of the one that used its memory before");
  engine.discard(op);
}

// Whether an op that allocates that many bytes runs in the call.
bool allocates_at_once(size_t bytes) {
  Buffer* buffer = Buffer::make(bytes, Engine::get().devices[0].budget.get());
  buffer->retain_handle();
  Op* op = op_of(0);
  op->emplace<Fill>(1);
  op->add(buffer, Mode::write);
  const bool at_once = issue(op);
  buffer->release_handle();
  return at_once;
}

void large_blocks_are_allocated_in_program_order() {
  set_up({2});
  constexpr size_t kLarge = 2 << 20;
  check(allocates_at_once(kLarge), "nothing is pending that could release memory");
  Numbers numbers;
  std::atomic<bool> go{false};
  Op* held = op_of(50'000);
  held->emplace<Held>(go);
  held->add(numbers.buffer, Mode::update);
  issue(held);
  check(!allocates_at_once(kLarge), "a pending op may release memory first");
  check(allocates_at_once(kLarge / 4), "a small block makes no difference");
  go = true;
  wait_all();
}

void records_are_in_order() {
  set_up({2});
  Engine& engine = Engine::get();
  check(engine.introspection.record_into(nullptr) == 0, "a recording begins");
  uint64_t first = engine.ring.next();
  Numbers a, b;
  engine.gate(true);
  step(a);
  engine.gate(false);
  for (int i = 0; i < 3000; ++i) step(b), step(b, i % 50 ? 100 : 50'000);
  wait_all();
  check(a.first() == 6 && b.first() == 5 + 6000, "values are right while operations are recorded");
  check(engine.ring.next() - first == 6003, "each of them has a number then");
  check(engine.ring.has_ended(engine.ring.next()), "and all numbers have ended");
  check(!engine.introspection.take_record().empty(), "they were recorded");
}

}  // namespace

int main() {
  use_cpu_workers(Engine::get());
  small_work_runs_here_without_a_worker();
  the_gate_holds_it();
  a_pending_read_comes_first();
  failures_poison_in_order();
  threads_take_turns();
  a_new_op_has_no_cost();
  large_blocks_are_allocated_in_program_order();
  records_are_in_order();
  wait_all();
  stop_workers();
}
