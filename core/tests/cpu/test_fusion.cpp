// Fused and dropped ops: element-wise ops and reductions over arrays of one space, in place and into new arrays, whole,
// by rows and through views. `test_fusion [steps]`.
#include <memory>
#include <thread>
#include <utility>

#include "calculation.h"
#include "cpu/threads.h"
#include "scarce.h"

using namespace forerun;
using namespace forerun::test;

namespace {

// Some steps are held back until all of them are issued.
void calculate(uint32_t seed, int64_t rows, int64_t columns, int steps) {
  Calculation calculation(seed, rows, columns);
  for (int i = 0; i < steps; i += 20) {
    bool held = i % 40 == 0;
    if (held) Engine::get().gate(true);
    for (int k = 0; k < 20; ++k) calculation.step();
    if (held) Engine::get().gate(false);
    if (i % 60 == 0) calculation.check_all();
  }
  calculation.check_all();
}

void run(const std::vector<int>& workers, int threads, size_t soft, int passes, bool traced, int steps) {
  Engine& engine = Engine::get();
  wait_all();
  stop_workers();
  engine.configure(workers, 3);
  engine.passes.set(passes), engine.passes.set_fuse_from(0);
  engine.devices[0].budget->soft.store(soft);
  if (traced) engine.introspection.record_into(nullptr);
  static constexpr int64_t kShapes[][2] = {{40, 300}, {9, 2049}, {3, 17000}, {2000, 7}, {1, 5}, {1, 70000}};
  for (uint32_t shape = 0; shape < 6; ++shape) {
    auto go = [=](uint32_t t) { calculate(100 * t + shape, kShapes[shape][0], kShapes[shape][1], steps); };
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back(go, t);
    go(0);
    for (std::thread& thread : others) thread.join();
  }
  wait_all();
  if (traced) engine.introspection.take_record();
  MemoryBudget& budget = *engine.devices[0].budget;
  check(budget.running == 0, "nothing runs");
  check(budget.reserved.load() == 0, "no memory is still reserved, got " + std::to_string(budget.reserved.load()));
  budget.soft.store(SIZE_MAX);
}

// --- groups that fail ------------------------------------------------------------------------------------------------

struct Successor final : Kernel {
  struct All final : FusedGroup {
    const char* name() const override { return "all"; }
    bool add(Op& op) override { return ops.push_back(&op), true; }
    bool elide(Storage*) override { return false; }
    void run(Op&, int64_t) override {
      for (Op* op : ops) op->kernel()->run(*op, 0);
    }
    std::vector<Op*> ops;
  };
  explicit Successor(bool throws) : throws(throws) {}
  const char* name() const override { return "successor"; }
  bool fusible() const override { return true; }
  FusedGroup* new_group(Op& op) const override {
    All* group = new All;
    group->add(op);
    return group;
  }
  void run(Op& op, int64_t) override {
    if (throws) throw Error(ErrorKind::value, "successor: told to fail");
    auto at = [&](int i) { return static_cast<Scarce*>(op.access(i).storage); };
    at(0)->value = at(1)->value + 1;
  }
  bool throws;
};

enum class Readers { of_one_another, of_one_value };

// A group of four ops, the third of which sometimes finds no memory, or throws.
void one_of_a_group_fails(Readers readers, int refusals, bool throws) {
  Engine& engine = Engine::get();
  wait_all();
  MemoryBudget* budget = engine.devices[0].budget.get();
  auto trim = std::exchange(engine.executor.trim, {});
  std::vector<std::unique_ptr<Scarce>> made;
  made.push_back(std::make_unique<Scarce>(4000, 0, budget));
  made[0]->take();
  engine.gate(true);
  for (size_t i = 1; i <= 4; ++i) {
    made.push_back(std::make_unique<Scarce>(100, i == 3 ? refusals : 0, budget));
    Op* op = engine.make_op();
    op->queue = engine.devices[0].compute.get(), op->budget = budget;
    op->cost = 5000;
    op->emplace<Successor>(throws && i == 3);
    op->add(made[i].get(), Mode::write);
    op->add(made[readers == Readers::of_one_value ? 0 : i - 1].get(), Mode::read);
    engine.issue(op);
  }
  EngineStats before = engine.introspection.stats();
  engine.gate(false);
  wait_all();
  check(engine.introspection.stats().grouped >= before.grouped + 4, "they were a group");
  for (size_t i = 1; i <= 4; ++i) {
    const FailurePtr& failure = made[i]->failure;
    // Alone it tries again, in program order; an operation that throws fails its group.
    bool fails = throws || (refusals > 1 && (i == 3 || (i > 3 && readers == Readers::of_one_another)));
    check(!failure == !fails, "failure of " + std::to_string(i) + ": " + (failure ? failure->message : "none"));
    int value = readers == Readers::of_one_value ? 1 : static_cast<int>(i);
    if (!failure)
      check(made[i]->value == value, "value of " + std::to_string(i) + ", got " + std::to_string(made[i]->value));
  }
  check(budget->running == 0 && budget->reserved.load() == 0, "nothing runs, nothing is reserved");
  engine.failures.take_unseen();
  engine.executor.trim = trim;
}

}  // namespace

int main(int argc, char** argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : kSanitized ? 40 : 100;
  Engine& engine = Engine::get();
  use_cpu_workers(engine);
  run({1}, 1, SIZE_MAX, 0, false, steps);
  EngineStats before = engine.introspection.stats();
  check(before.dropped == 0 && before.groups == 0, "without passes nothing is dropped or joined");
  run({0}, 1, SIZE_MAX, 3, false, steps);
  run({1}, 1, SIZE_MAX, 3, false, steps);
  run({3}, 3, SIZE_MAX, 7, false, steps);
  run({3}, 3, 1 << 18, 7, true, steps);
  run({2}, 4, SIZE_MAX, 1, false, steps);
  run({2}, 4, SIZE_MAX, 2, false, steps);
  run({2}, 4, SIZE_MAX, 4, false, steps);
  EngineStats after = engine.introspection.stats();
  check(after.dropped > 100 && after.grouped > 2 * after.groups && after.groups > 100 && after.elided > 1 << 20,
        "ops were dropped and joined");
  check(after.reused > 1 << 20, "outputs took the memory of inputs");
  engine.passes.set(7);
  for (Readers readers : {Readers::of_one_another, Readers::of_one_value}) {
    for (int refusals : {1, 100}) one_of_a_group_fails(readers, refusals, false);
    one_of_a_group_fails(readers, 0, true);
  }
  wait_all();
  stop_workers();
  check(engine.devices[0].budget->live.load() == 0, "all memory came back");
  return 0;
}
