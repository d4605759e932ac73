// The groups of a program do not depend on the duration of its ops, and no wait for an op that waits for its group
// hangs. `test_group_planning [rounds]`.
#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>

#include "base/simd/cycles.h"
#include "cpu/threads.h"
#include "program.h"
#include "scarce.h"

using namespace forerun;
using namespace forerun::test;

namespace {

std::mutex mutex;
std::vector<std::vector<uint64_t>> groups;  // of the round: the numbers of their ops

// Ops of one space are fused; some ops are never fused.
struct Sum final : Kernel {
  struct Group final : FusedGroup {
    explicit Group(int space) : space(space) {}
    const char* name() const override { return "group"; }
    bool add(Op& op) override {
      if (static_cast<const Sum*>(op.kernel())->space != space) return false;
      return ops.push_back(&op), true;
    }
    bool elide(Storage*) override { return false; }
    void run(Op&, int64_t) override {
      for (Op* op : ops) op->kernel()->run(*op, 0);
      std::vector<uint64_t> numbers;
      for (const Op* op : ops) numbers.push_back(op->seq);
      std::lock_guard held(mutex);
      groups.push_back(std::move(numbers));
    }
    const int space;
    std::vector<Op*> ops;
  };
  Sum(int space, uint64_t cycles) : space(space), cycles(cycles) {}
  const char* name() const override { return "sum"; }
  bool fusible() const override { return space > 0; }
  FusedGroup* new_group(Op& op) const override {
    Group* group = new Group(space);
    group->add(op);
    return group;
  }
  void run(Op& op, int64_t) override {
    pass(cycles);
    int64_t sum = 1;
    for (int i = 1; i < op.n_access; ++i) sum += static_cast<Scarce*>(op.access(i).storage)->value;
    static_cast<Scarce*>(op.access(0).storage)->value = sum % 1'000'003;
  }
  const int space;  // 0: it is never fused
  const uint64_t cycles;
};

struct Steps {
  struct Step {
    int space;
    bool urgent;
    std::vector<size_t> reads;
    uint64_t cycles = 0;  // its duration, if it is not random
  };
  explicit Steps(uint32_t seed) {
    std::mt19937 random(seed);
    for (size_t i = 1; i <= 150; ++i) {
      Step step{static_cast<int>(random() % 4), random() % 40 == 0, {}, 0};
      for (size_t k = random() % 3; k-- > 0;) step.reads.push_back(i - 1 - random() % std::min<size_t>(i, 30));
      steps.push_back(step);
    }
  }
  // Two recurrences, of which the second reads the first and is fused apart from it, and one backwards through the
  // results of both. The first ops wait for a long one, while an op behind them can start: all groups are planned then.
  struct Recurrences {
    int length;
  };
  explicit Steps(Recurrences of) {
    auto step = [&](int space, std::vector<size_t> reads) {
      steps.push_back({space, false, std::move(reads), 0});
      return steps.size();
    };
    const size_t begin = step(0, {0});
    steps.back().cycles = 3'000'000;
    std::vector<std::pair<size_t, size_t>> results{{begin, begin}};
    for (int i = 0; i < of.length; ++i) {
      const size_t first = step(1, {results.back().first});
      results.push_back({first, step(2, {results.back().second, first})});
      if (i == 0) step(3, {0});
    }
    for (size_t last = 0; !results.empty(); results.pop_back())
      last = step(1, {results.back().first, results.back().second, last});
  }
  std::vector<Step> steps;
};

// Issues the program with ops of different durations in each round, and returns its groups.
std::vector<std::vector<uint64_t>> run(const Steps& program, uint32_t round, size_t bytes) {
  Engine& engine = Engine::get();
  MemoryBudget* budget = engine.devices[0].budget.get();
  std::mt19937 random(round);
  std::vector<std::unique_ptr<Scarce>> made;
  std::vector<int64_t> expected{0};
  made.push_back(std::make_unique<Scarce>(bytes, 0, budget));
  made[0]->take();
  uint64_t first = 0;
  groups.clear();
  engine.gate(true);
  for (const Steps::Step& step : program.steps) {
    made.push_back(std::make_unique<Scarce>(bytes, 0, budget));
    Op* op = engine.make_op();
    op->queue = engine.devices[0].compute.get(), op->budget = budget, op->urgent = step.urgent;
    op->cost = 5000;
    const uint64_t cycles = random() % 8 ? 0 : random() % 50'000;
    op->emplace<Sum>(step.space, step.cycles ? step.cycles : cycles);
    op->add(made.back().get(), Mode::write);
    int64_t sum = 1;
    for (size_t read : step.reads) op->add(made[read].get(), Mode::read), sum += expected[read];
    expected.push_back(sum % 1'000'003);
    engine.issue(op);
    if (first == 0) first = engine.ring.next() - 1;
  }
  engine.gate(false);
  wait_all();
  for (size_t i = 0; i < made.size(); ++i) check(made[i]->value == expected[i], "value of " + std::to_string(i));
  check(budget->running == 0 && budget->reserved.load() == 0, "nothing runs, nothing is reserved");
  for (auto& group : groups)
    for (uint64_t& number : group) number -= first;
  std::sort(groups.begin(), groups.end());
  return groups;
}

}  // namespace

int main(int argc, char** argv) {
  const uint32_t rounds = argc > 1 ? std::atoi(argv[1]) : kSanitized ? 5 : 40;
  Engine& engine = Engine::get();
  use_cpu_workers(engine);
  auto trim = std::exchange(engine.executor.trim, {});
  size_t grouped = 0;
  for (int workers : {1, 2, 4}) {
    stop_workers();
    engine.configure({workers}, 3);
    for (uint32_t seed = 0; seed < 10; ++seed) {
      const Steps program(seed);
      const auto usual = run(program, 0, 100);
      for (uint32_t round = 1; round < rounds; ++round)
        check(run(program, round, 100) == usual, "the groups of program " + std::to_string(seed) + " are the same");
      for (const auto& group : usual) grouped += group.size();
      // With little memory groups are smaller, and all ops end.
      MemoryBudget& budget = *engine.devices[0].budget;
      const size_t live = budget.live.load();
      budget.soft.store(live + 160 * (1 << 20));
      for (uint32_t round = 0; round < 5; ++round) run(program, round, 4 << 20);
      budget.soft.store(SIZE_MAX);
    }
    // Groups that do not get their memory are cancelled while others wait for their ops.
    MemoryBudget& budget = *engine.devices[0].budget;
    budget.soft.store(budget.live.load() + 160 * (1 << 20));
    for (int length : {40, 100, 130})
      for (uint32_t round = 0; round < 5; ++round) run(Steps(Steps::Recurrences{length}), round, 4 << 20);
    budget.soft.store(SIZE_MAX);
  }
  check(grouped > 1000, "most ops are in groups, got " + std::to_string(grouped));
  engine.executor.trim = trim;
  stop_workers();
  return 0;
}
