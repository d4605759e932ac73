// Ops on parts of one array: those that do not overlap run at the same time; memory and waits are those of all of it.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "array/array.h"
#include "cpu/kernels/copy/copy.h"
#include "cpu/kernels/scalar.h"
#include "cpu/threads.h"
#include "engine/graph/sections.h"
#include "program.h"

using namespace forerun;
using namespace forerun::test;

namespace {

// Waits until another kernel of this type has begun.
struct Meets final : Kernel {
  explicit Meets(std::atomic<int>* begun) : begun(begun) {}
  const char* name() const override { return "meets"; }
  void run(Op&, int64_t) override {
    ++*begun;
    for (int i = 0; *begun < 2 && i < 60'000; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    check(*begun == 2, "ops on parts that do not overlap run at the same time");
  }
  std::atomic<int>* begun;
};

void check_independence(Mode first, Mode second, bool memory_comes) {
  Engine& engine = Engine::get();
  wait_all();
  stop_workers();
  engine.configure({2}, 3);
  engine.passes.set(31), engine.passes.set_apart_from(20000);
  Array array = Array::make(DType::u64, Dims{8, 8}, engine.devices[0].budget.get());
  if (!memory_comes) check(array.storage()->take(), "memory");
  std::atomic<int> begun{0};
  engine.gate(true);
  auto issue = [&](auto build) {
    Op* op = engine.make_op();
    op->queue = engine.devices[0].compute.get(), op->budget = array.storage()->budget;
    op->cost = 1'000'000;
    build(*op);
    engine.issue(op);
  };
  if (memory_comes) issue([&](Op& op) { op.emplace<Fill>(1), op.add(array.storage(), Mode::write); });
  for (int64_t i = 0; i < 2; ++i) {
    Layout block = Layout::dense(DType::u64, Dims{8, 8});
    block.shape = Dims{8, 4}, block.size = 32, block.offset = i * 32;
    issue([&](Op& op) { op.emplace<Meets>(&begun), add(op, Array(array.storage(), block), i ? second : first); });
  }
  engine.gate(false);
  wait_all();
  check(begun == 2, "both have run");
}

// The op that was to allocate the memory does not run, as its operand is poisoned; the ops behind it allocate it.
void check_memory_after_failure() {
  Engine& engine = Engine::get();
  engine.configure({2}, 3);
  engine.gate(true);
  Array bad = Array::make(DType::u64, Dims{8}, engine.devices[0].budget.get()),
        array = Array::make(DType::u64, Dims{8, 8}, bad.storage()->budget);
  auto issue = [&](auto build) {
    Op* op = engine.make_op();
    op->queue = engine.devices[0].compute.get(), op->budget = bad.storage()->budget;
    build(*op);
    op->cost = 1'000'000;
    engine.issue(op);
  };
  auto row = [&](int64_t i) {
    Layout one = Layout::dense(DType::u64, Dims{8});
    one.offset = i * 64;
    return Array(array.storage(), one);
  };
  issue([&](Op& op) {
    op.emplace<Mix>(1, 5, false, true), op.add(bad.storage(), Mode::write), op.add(bad.storage(), Mode::read),
        op.add(bad.storage(), Mode::read);
  });
  issue([&](Op& op) { build_copy(op, bad, row(0)); });
  for (int64_t i = 1; i < 8; ++i) {
    Scalar scalar{};
    std::memcpy(scalar.bytes, &i, sizeof i);
    issue([&](Op& op) { build_fill(op, scalar, row(i)); });
  }
  engine.gate(false);
  wait_all();
  check(row(0).failure() && array.failure() == row(0).failure(), "the part written with it is poisoned");
  for (int64_t i = 1; i < 8; ++i) {
    check(!row(i).failure(), "the rest is not");
    for (int64_t k = 0; k < 8; ++k)
      check(reinterpret_cast<int64_t*>(array.storage()->data())[8 * i + k] == i, "values of the rest");
  }
  engine.failures.take_unseen();
}

// Each iteration of a loop over shrinking blocks, or growing ones, waits for the one before, not for all.
void check_few_edges(bool growing) {
  constexpr int64_t kSide = 48;
  Engine& engine = Engine::get();
  Array array = Array::make(DType::u64, Dims{kSide, kSide}, engine.devices[0].budget.get());
  Storage& storage = *array.storage();
  check(storage.take(), "memory");
  std::vector<std::unique_ptr<Op>> ops;
  auto access = [&](int64_t from, bool column, Mode mode) {
    Layout block = Layout::dense(DType::u64, Dims{kSide, kSide});
    const int64_t rows = kSide - from, columns = column ? 1 : rows;
    block.shape = Dims{rows, columns}, block.size = rows * columns, block.offset = from * (kSide + 1) * 8;
    ops.push_back(std::make_unique<Op>());
    Op& op = *ops.back();
    op.seq = ops.size(), op.queue = engine.devices[0].compute.get();
    op.put(&storage, mode, block.region());
    if (mode == Mode::read)
      link_section_read(op.access(0), true);
    else
      check(link_section_write(op.access(0), true), "a write of a part");
    return op.pending_dependencies;
  };
  for (int64_t i = 0; i < kSide - 1; ++i) {
    const int64_t from = growing ? kSide - 2 - i : i;
    const int column = access(from, true, Mode::read), block = access(from, false, Mode::read),
              write = access(from, false, Mode::update);
    check(column + block <= (growing && i > 0 ? 4 : 2) && write <= 3,
          "few edges, got " + std::to_string(column) + ", " + std::to_string(block) + " and " + std::to_string(write));
  }
  check(growing ? storage.n_sections <= 2 : storage.n_sections < 2 * kSide, "the parts in a written one are replaced");
  for (auto& op : ops) {
    leave_section(op->access(0));
    op->successors.clear();
  }
  storage.apart = 0;
}

// Ends when it is released.
struct Late final : Kernel {
  explicit Late(std::atomic<bool>* open) : open(open) {}
  const char* name() const override { return "late"; }
  void run(Op&, int64_t) override {
    while (!*open) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::atomic<bool>* open;
};

// A wait for the issued writes does not end when as many later ones have ended.
void check_order_of_ends() {
  Engine& engine = Engine::get();
  engine.configure({2}, 3);
  Array array = Array::make(DType::u64, Dims{8, 8}, engine.devices[0].budget.get());
  check(array.storage()->take(), "memory");
  std::atomic<bool> open{false};
  std::atomic<bool> at_once{true};
  auto issue = [&](int64_t row, std::atomic<bool>* until) {
    Layout one = Layout::dense(DType::u64, Dims{8});
    one.offset = row * 64;
    Op* op = engine.make_op();
    op->queue = engine.devices[0].compute.get(), op->budget = array.storage()->budget, op->cost = 1'000'000;
    op->emplace<Late>(until);
    add(*op, Array(array.storage(), one), Mode::update);
    engine.issue(op);
  };
  const uint64_t before = engine.introspection.stats().ended;
  CompletionQueue queue(engine.notifier);
  Completion completion;
  Completion* known_apart = nullptr;
  issue(0, &open), issue(1, &at_once);
  check(engine.watch(completion, *array.storage(), queue), "there is something to wait for");
  issue(2, &at_once), issue(3, &at_once);
  while (engine.introspection.stats().ended < before + 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  check(engine.notifier.pop_completed(queue, &known_apart, 1) == 0 && !array.storage()->settled(),
        "the first write has not ended");
  open = true;
  wait_all();
  check(engine.notifier.pop_completed(queue, &known_apart, 1) == 1 && known_apart == &completion &&
            array.storage()->settled(),
        "all have");
}

// In a loop that reads overlapping parts and writes one of them, a write waits for the reads since the previous write,
// and not for those of all iterations that have not ended.
void check_loop_of_overlapping_reads() {
  Engine& engine = Engine::get();
  engine.configure({2}, 3);
  constexpr int kIterations = 40, kReads = 3;
  Array array = Array::make(DType::u64, Dims{8}, engine.devices[0].budget.get()),
        results = Array::make(DType::u64, Dims{kIterations * kReads}, engine.devices[0].budget.get());
  check(array.storage()->take() && results.storage()->take(), "memory");
  std::atomic<bool> open{false};
  std::vector<const Op*> ops;
  auto issue = [&](auto build) {
    Op* op = engine.make_op();
    op->queue = engine.devices[0].compute.get(), op->budget = array.storage()->budget, op->cost = 1'000'000;
    build(*op);
    ops.push_back(op);
    engine.issue(op);
  };
  auto part = [](const Array& a, int64_t from, int64_t n) {
    Layout some = Layout::dense(DType::u64, Dims{n});
    some.offset = from * 8;
    return Array(a.storage(), some);
  };
  const uint64_t before = engine.introspection.stats().planned;
  for (int i = 0; i < kIterations; ++i) {
    for (int64_t k = 0; k < kReads; ++k)
      issue([&](Op& op) {
        op.emplace<Late>(&open);
        add(op, part(array, k, 6), Mode::read);
        add(op, part(results, i * kReads + k, 1), Mode::update);
      });
    issue([&](Op& op) { op.emplace<Late>(&open), add(op, part(array, 1, 6), Mode::update); });
  }
  while (engine.introspection.stats().planned < before + ops.size())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  engine.introspection.stats();  // takes the lock, after which the edges exist
  int most = 0;
  for (const Op* op : ops) {
    int n = 0;
    for (const Edge* edge : op->successors) n += edge != nullptr;
    most = std::max(most, n);
  }
  open = true;
  wait_all();
  check(most <= kReads + 1, "ops that wait for one");
}

}  // namespace

int main() {
  use_cpu_workers(Engine::get());
  for (bool memory_comes : {false, true})
    for (Mode mode : {Mode::read, Mode::update})
      check_independence(Mode::update, mode, memory_comes), check_independence(mode, Mode::update, memory_comes);
  stop_workers();
  for (bool growing : {false, true}) check_few_edges(growing);
  check_order_of_ends();
  stop_workers();
  check_loop_of_overlapping_reads();
  stop_workers();
  check_memory_after_failure();
  wait_all();
  stop_workers();
  return 0;
}
