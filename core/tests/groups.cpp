// Ops that are run in groups, and ops that are dropped: element-wise ops and reductions over arrays of one space, in place and into
// new arrays, whole, by rows and through views. `test_groups [steps]`.
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include "array/array.h"
#include "cpu/workers.h"
#include "kernels/elementwise.h"
#include "kernels/reduce.h"
#include "program.h"

using namespace forerun;
using namespace forerun::test;

namespace {

using Values = std::vector<uint64_t>;

template <class F>
void loop(char** args, const intptr_t* n, const intptr_t* steps, F f) {
  for (intptr_t i = 0; i < *n; ++i) {
    uint64_t a, b;
    std::memcpy(&a, args[0] + i * steps[0], 8), std::memcpy(&b, args[1] + i * steps[1], 8);
    uint64_t y = f(a, b);
    std::memcpy(args[2] + i * steps[2], &y, 8);
  }
}
uint64_t sum(uint64_t a, uint64_t b) { return a + b; }
uint64_t scaled(uint64_t a, uint64_t b) { return 3 * a + 7 * b; }
uint64_t checked(uint64_t a, uint64_t b) {
  if (a % 1024 == 5) throw Error(ErrorKind::value, "checked: must not be 5");
  return a ^ b;
}
using Function = uint64_t (*)(uint64_t, uint64_t);
template <Function f>
void loop_of(char** args, const intptr_t* n, const intptr_t* steps, void*) { loop(args, n, steps, f); }

struct Named {
  const char* name;
  Function f;
  Loop loop;
};
const Named kAdd{"add", sum, {loop_of<sum>}}, kScale{"scale", scaled, {loop_of<scaled>}},
    kCheck{"check", checked, {loop_of<checked>, nullptr, false, true}};

// One front-end thread's program over arrays of rows x columns, of rows, of columns and of one value.
class Calculation {
 public:
  Calculation(uint32_t seed, int64_t rows, int64_t columns) : random_(seed), shapes_{{rows, columns}, {rows, 1}, {1, columns}, {1, 1}} {
    for (size_t i = 0; i < kSlots; ++i) fill(slots_[i], i % 4);
  }

  void step() {
    Slot &out = slots_[pick()], &a = slots_[pick()], &b = slots_[pick()];
    switch (random_() % 16) {
      case 0: return fill(out, random_() % 4);
      case 1: return reduce(out, a);
      case 2: return through_view(a, b);
      case 3: return binary(kCheck, out, a, b);
      case 4: case 5: case 6: return update(random_() % 2 ? kAdd : kScale, a, b);
      case 7: {
        Slot wasted;
        binary(kAdd, wasted, a, b), reduce(wasted, wasted), update(kScale, wasted, wasted);
        return;
      }
      default: return binary(random_() % 2 ? kAdd : kScale, out, a, b);
    }
  }

  void check_all() {
    for (Slot& slot : slots_) {
      wait_for(*slot.array.storage());
      const FailurePtr& failure = slot.array.storage()->failure;
      check((failure ? failure->message : "") == slot.failure, "failure: got '" + (failure ? failure->message : "") + "' instead of '" + slot.failure + "'");
      if (failure) continue;
      check(std::memcmp(slot.array.storage()->data(), slot.values.data(), slot.values.size() * 8) == 0, "values of an array of kind " + std::to_string(slot.kind));
    }
  }

 private:
  static constexpr size_t kSlots = 10;
  struct Slot {
    Array array;
    int kind = 0;
    Values values;
    std::string failure;
  };
  struct Shape {
    int64_t rows, columns;
  };

  size_t pick() { return random_() % kSlots; }
  Budget* budget() { return Engine::get().device(0).budget.get(); }
  Array make(int kind) { return Array::make(DType::u64, Dims{shapes_[kind].rows, shapes_[kind].columns}, budget()); }
  Op* make_op() {
    Engine& engine = Engine::get();
    while (engine.must_wait()) engine.make_room(std::chrono::milliseconds(50));
    Op* op = engine.make_op();
    op->queue = engine.device(0).compute.get(), op->budget = budget();
    return op;
  }

  void fill(Slot& slot, int kind) {
    slot = Slot{make(kind), kind, Values(static_cast<size_t>(shapes_[kind].rows * shapes_[kind].columns)), ""};
    uint64_t value = random_() % 1000;
    for (size_t i = 0; i < slot.values.size(); ++i) slot.values[i] = value + i;
    Op* op = make_op();
    op->emplace<Fill>(value);
    op->cost = 100;
    op->add(slot.array.storage(), Mode::write);
    Engine::get().issue(op);
  }

  // The kind that two broadcast to.
  static int together(int a, int b) { return a == b ? a : a == 3 ? b : b == 3 ? a : 0; }
  uint64_t at(const Slot& slot, int64_t row, int64_t column) const {
    const Shape& s = shapes_[slot.kind];
    return slot.values[static_cast<size_t>((s.rows > 1 ? row : 0) * s.columns + (s.columns > 1 ? column : 0))];
  }

  void issue(const Named& function, const Array& a, const Array& b, const Array& out) {
    Op* op = make_op();
    DType types[] = {DType::u64, DType::u64, DType::u64};
    Operand inputs[] = {{&a, {}}, {&b, {}}};
    const Array* outputs[] = {&out};
    build_elementwise(*op, function.name, function.loop, types, inputs, 2, outputs, 1);
    Engine::get().issue(op);
  }

  void compute(const Named& function, Slot& out, const Slot& a, const Slot& b) {
    std::string failure = a.failure.empty() ? b.failure : a.failure;
    Values values;
    try {
      for (int64_t r = 0; failure.empty() && r < shapes_[out.kind].rows; ++r)
        for (int64_t c = 0; c < shapes_[out.kind].columns; ++c) values.push_back(function.f(at(a, r, c), at(b, r, c)));
    } catch (const Error& error) {
      failure = error.what();
    }
    out.failure = failure, out.values = std::move(values);
  }

  void binary(const Named& function, Slot& out, const Slot& a, const Slot& b) {
    Slot made{make(together(a.kind, b.kind)), together(a.kind, b.kind), {}, ""};
    issue(function, a.array, b.array, made.array);
    compute(function, made, a, b);
    out = std::move(made);
  }

  void update(const Named& function, Slot& a, const Slot& b) {
    if (together(a.kind, b.kind) != a.kind) return;
    issue(function, a.array, b.array, a.array);
    compute(function, a, Slot(a), Slot(b));
  }

  // a[1:] += b[:-1] of one kind; a and b may be one array.
  void through_view(Slot& a, Slot& b) {
    int64_t rows = shapes_[a.kind].rows, columns = shapes_[a.kind].columns;
    if (a.kind != b.kind || rows == 1) return;
    Layout head = Layout::dense(DType::u64, Dims{rows - 1, columns}), tail = head;
    tail.offset = columns * 8;
    Array target(a.array.storage(), tail), source(b.array.storage(), head);
    issue(kAdd, target, source, target);
    if (a.failure.empty()) a.failure = b.failure;
    if (!a.failure.empty()) return;
    Values old = b.values;
    for (size_t i = static_cast<size_t>(columns); i < a.values.size(); ++i) a.values[i] += old[i - static_cast<size_t>(columns)];
  }

  void reduce(Slot& out, const Slot& from) {
    int kind = 1 + random_() % 3;
    if (together(kind, from.kind) != from.kind) return;
    bool reduced[] = {kind != 1, kind != 2};
    Slot made{make(kind), kind, Values(static_cast<size_t>(shapes_[kind].rows * shapes_[kind].columns)), from.failure};
    Array kept(made.array.storage(), Layout::dense(DType::u64, kind == 3 ? Dims(0) : Dims{shapes_[kind].rows * shapes_[kind].columns}));
    Scalar zero{};
    Op* op = make_op();
    build_reduce(*op, "sum", kAdd.loop, from.array, reduced, nullptr, &zero, kept);
    Engine::get().issue(op);
    for (int64_t r = 0; from.failure.empty() && r < shapes_[from.kind].rows; ++r)
      for (int64_t c = 0; c < shapes_[from.kind].columns; ++c)
        made.values[static_cast<size_t>(kind == 1 ? r : kind == 2 ? c : 0)] += at(from, r, c);
    out = std::move(made);
  }

  std::mt19937 random_;
  Shape shapes_[4];
  Slot slots_[kSlots];
};

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
  engine.set_passes(passes), engine.set_fuse_from(0);
  engine.device(0).budget->soft.store(soft);
  if (traced) engine.trace.start(1 << 20);
  static constexpr int64_t kShapes[][2] = {{40, 300}, {9, 2049}, {3, 17000}, {2000, 7}, {1, 5}, {1, 70000}};
  for (uint32_t shape = 0; shape < 6; ++shape) {
    auto go = [=](uint32_t t) { calculate(100 * t + shape, kShapes[shape][0], kShapes[shape][1], steps); };
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back(go, t);
    go(0);
    for (std::thread& thread : others) thread.join();
  }
  wait_all();
  if (traced) engine.trace.stop();
  Budget& budget = *engine.device(0).budget;
  check(budget.running == 0, "nothing runs");
  check(budget.reserved.load() == 0, "no memory is still reserved, got " + std::to_string(budget.reserved.load()));
  budget.soft.store(SIZE_MAX);
}

// --- groups that fail ---------------------------------------------------------------------------------------------------------------

// A storage whose memory cannot be had some times.
struct Scarce final : Storage {
  Scarce(size_t bytes, int refusals, Budget* budget) : Storage(bytes, budget), refusals(refusals) { retain_handle(); }
  bool take() override { return refusals-- <= 0 && (there = true); }
  bool taken() const override { return there; }
  bool protect(bool) override { return true; }
  bool take_over(Storage&) override { return false; }
  void hand_back(Storage&) override {}
  size_t write_off() override { return 0; }
  void dispose() override {}
  int refusals;
  bool there = false;
  int value = 0;
};

struct Successor final : Kernel {
  struct All final : Group {
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
  Group* new_group(Op& op) const override {
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

// Four ops that are a group, the third of which finds no memory some times, or throws.
void one_of_a_group_fails(Readers readers, int refusals, bool throws) {
  Engine& engine = Engine::get();
  wait_all();
  Budget* budget = engine.device(0).budget.get();
  auto trim = std::exchange(engine.trim, {});
  std::vector<std::unique_ptr<Scarce>> made;
  made.push_back(std::make_unique<Scarce>(4000, 0, budget));
  made[0]->take();
  engine.gate(true);
  for (size_t i = 1; i <= 4; ++i) {
    made.push_back(std::make_unique<Scarce>(100, i == 3 ? refusals : 0, budget));
    Op* op = engine.make_op();
    op->queue = engine.device(0).compute.get(), op->budget = budget;
    op->cost = 5000;
    op->emplace<Successor>(throws && i == 3);
    op->add(made[i].get(), Mode::write);
    op->add(made[readers == Readers::of_one_value ? 0 : i - 1].get(), Mode::read);
    engine.issue(op);
  }
  EngineStats before = engine.stats();
  engine.gate(false);
  wait_all();
  check(engine.stats().grouped >= before.grouped + 4, "they were a group");
  for (size_t i = 1; i <= 4; ++i) {
    const FailurePtr& failure = made[i]->failure;
    // By itself it tries again, in its turn; what throws takes its group with it.
    bool fails = throws || (refusals > 1 && (i == 3 || (i > 3 && readers == Readers::of_one_another)));
    check(!failure == !fails, "failure of " + std::to_string(i) + ": " + (failure ? failure->message : "none"));
    int value = readers == Readers::of_one_value ? 1 : static_cast<int>(i);
    if (!failure) check(made[i]->value == value, "value of " + std::to_string(i) + ", got " + std::to_string(made[i]->value));
  }
  check(budget->running == 0 && budget->reserved.load() == 0, "nothing runs, nothing is reserved");
  engine.take_unseen();
  engine.trim = trim;
}

}  // namespace

int main(int argc, char** argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : 100;
  Engine& engine = Engine::get();
  use_cpu_workers(engine);
  run({1}, 1, SIZE_MAX, 0, false, steps);
  EngineStats before = engine.stats();
  check(before.dropped == 0 && before.groups == 0, "without passes nothing is dropped or joined");
  run({0}, 1, SIZE_MAX, 3, false, steps);
  run({1}, 1, SIZE_MAX, 3, false, steps);
  run({3}, 3, SIZE_MAX, 7, false, steps);
  run({3}, 3, 1 << 18, 7, true, steps);
  run({2}, 4, SIZE_MAX, 1, false, steps);
  run({2}, 4, SIZE_MAX, 2, false, steps);
  run({2}, 4, SIZE_MAX, 4, false, steps);
  EngineStats after = engine.stats();
  check(after.dropped > 100 && after.grouped > 2 * after.groups && after.groups > 100 && after.elided > 1 << 20, "ops were dropped and joined");
  check(after.reused > 1 << 20, "outputs took the memory of inputs");
  engine.set_passes(7);
  for (Readers readers : {Readers::of_one_another, Readers::of_one_value}) {
    for (int refusals : {1, 100}) one_of_a_group_fails(readers, refusals, false);
    one_of_a_group_fails(readers, 0, true);
  }
  wait_all();
  stop_workers();
  check(engine.device(0).budget->live.load() == 0, "all memory came back");
  return 0;
}
