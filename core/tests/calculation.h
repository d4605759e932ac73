// Random calculations over arrays of one space: element-wise ops and reductions, in place and into new arrays, whole,
// by rows and through views; and the same calculations executed in order.
#pragma once
#include <cstring>
#include <utility>

#include "array/array.h"
#include "cpu/kernels/elementwise/elementwise.h"
#include "cpu/kernels/reduce/reduce.h"
#include "program.h"

namespace forerun::test {

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
inline uint64_t sum(uint64_t a, uint64_t b) { return a + b; }
inline uint64_t scaled(uint64_t a, uint64_t b) { return 3 * a + 7 * b; }
inline uint64_t checked(uint64_t a, uint64_t b) {
  if (a % 1024 == 5) throw Error(ErrorKind::value, "checked: must not be 5");
  return a ^ b;
}
using Function = uint64_t (*)(uint64_t, uint64_t);
template <Function f>
void loop_of(char** args, const intptr_t* n, const intptr_t* steps, void*) {
  loop(args, n, steps, f);
}

struct Named {
  const char* name;
  Function f;
  Loop loop;
};
inline Loop add_loop() {
  Loop loop{loop_of<sum>};
  loop.formula = Formula::add;
  return loop;
}
inline const Named kAdd{"add", sum, add_loop()}, kScale{"scale", scaled, {loop_of<scaled>}},
    kCheck{"check", checked, {loop_of<checked>, nullptr, false, true}};

// One front-end thread's program over arrays of rows x columns, of rows, of columns and of one value.
class Calculation {
 public:
  Calculation(uint32_t seed, int64_t rows, int64_t columns)
      : random_(seed), shapes_{{rows, columns}, {rows, 1}, {1, columns}, {1, 1}} {
    for (size_t i = 0; i < kSlots; ++i) fill(slots_[i], i % 4);
  }

  void step() {
    Slot &out = slots_[pick()], &a = slots_[pick()], &b = slots_[pick()];
    switch (random_() % 16) {
      case 0: return fill(out, random_() % 4);
      case 1: return reduce(out, a);
      case 2: return through_view(a, b);
      case 3: return binary(kCheck, out, a, b);
      case 4:
      case 5:
      case 6: return update(random_() % 2 ? kAdd : kScale, a, b);
      case 7: {
        Slot wasted;
        binary(kAdd, wasted, a, b), reduce(wasted, wasted), update(kScale, wasted, wasted);
        return;
      }
      default: return binary(random_() % 2 ? kAdd : kScale, out, a, b);
    }
  }

  // `all_fit`: there is memory for everything; otherwise an array may be poisoned for lack of memory, and so may
  // results computed from it.
  void check_all(bool all_fit = true) {
    for (Slot& slot : slots_) {
      wait_for(*slot.array.storage());
      const FailurePtr& failure = slot.array.storage()->failure;
      if (!all_fit && failure && failure->kind == ErrorKind::memory) continue;
      check((failure ? failure->message : "") == slot.failure,
            "failure: got '" + (failure ? failure->message : "") + "' instead of '" + slot.failure + "'");
      if (failure) continue;
      check(std::memcmp(slot.array.storage()->data(), slot.values.data(), slot.values.size() * 8) == 0,
            "values of an array of kind " + std::to_string(slot.kind) +
                (all_fit ? ", all fits" : ", something was refused"));
    }
  }

 private:
  static constexpr size_t kSlots = 10;
  struct Slot {
    Array array;
    int kind = 0;
    Values values;
    std::string failure;
    uint64_t failed = 0;  // the number of the failure in the calculation
  };
  // Of several failures the earliest is kept.
  static void inherit(Slot& slot, const Slot& from) {
    if (!from.failure.empty() && (slot.failure.empty() || from.failed < slot.failed))
      slot.failure = from.failure, slot.failed = from.failed;
  }
  struct Shape {
    int64_t rows, columns;
  };

  size_t pick() { return random_() % kSlots; }
  MemoryBudget* budget() { return Engine::get().devices[0].budget.get(); }
  Array make(int kind) {
    InEngine entered;
    return Array::make(DType::u64, Dims{shapes_[kind].rows, shapes_[kind].columns}, budget());
  }
  // Issues an op that `build` makes; std::bad_alloc: it has not been issued.
  template <class F>
  void issue(F build) {
    InEngine entered;
    Engine& engine = Engine::get();
    while (engine.ring.full()) engine.waiter.make_room(std::chrono::milliseconds(50));
    Op* op = engine.make_op();
    op->queue = engine.devices[0].compute.get(), op->budget = budget();
    try {
      build(*op);
    } catch (...) {
      engine.discard(op);
      throw;
    }
    engine.issue(op);
  }

  void fill(Slot& slot, int kind) {
    Slot made{make(kind), kind, Values(static_cast<size_t>(shapes_[kind].rows * shapes_[kind].columns)), "", 0};
    uint64_t value = random_() % 1000;
    for (size_t i = 0; i < made.values.size(); ++i) made.values[i] = value + i;
    issue([&](Op& op) {
      op.emplace<Fill>(value);
      op.cost = 100;
      op.add(made.array.storage(), Mode::write);
    });
    slot = std::move(made);
  }

  // The kind of the result of broadcasting both.
  static int together(int a, int b) { return a == b ? a : a == 3 ? b : b == 3 ? a : 0; }
  uint64_t at(const Slot& slot, int64_t row, int64_t column) const {
    const Shape& s = shapes_[slot.kind];
    return slot.values[static_cast<size_t>((s.rows > 1 ? row : 0) * s.columns + (s.columns > 1 ? column : 0))];
  }

  void issue(const Named& function, const Array& a, const Array& b, const Array& out) {
    DType types[] = {DType::u64, DType::u64, DType::u64};
    Operand inputs[] = {{&a, {}}, {&b, {}}};
    const Array* outputs[] = {&out};
    issue([&](Op& op) { build_elementwise(op, function.name, function.loop, types, inputs, 2, outputs, 1); });
  }

  void compute(const Named& function, Slot& out, const Slot& a, const Slot& b) {
    Slot made;
    inherit(made, a), inherit(made, b);
    Values values;
    try {
      for (int64_t r = 0; made.failure.empty() && r < shapes_[out.kind].rows; ++r)
        for (int64_t c = 0; c < shapes_[out.kind].columns; ++c) values.push_back(function.f(at(a, r, c), at(b, r, c)));
    } catch (const Error& error) {
      made.failure = error.what(), made.failed = ++failed_;
    }
    out.failure = made.failure, out.failed = made.failed, out.values = std::move(values);
  }

  void binary(const Named& function, Slot& out, const Slot& a, const Slot& b) {
    Slot made{make(together(a.kind, b.kind)), together(a.kind, b.kind), {}, "", 0};
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
    inherit(a, b);
    if (!a.failure.empty()) return;
    Values old = b.values;
    for (size_t i = static_cast<size_t>(columns); i < a.values.size(); ++i)
      a.values[i] += old[i - static_cast<size_t>(columns)];
  }

  void reduce(Slot& out, const Slot& from) {
    int kind = 1 + random_() % 3;
    if (together(kind, from.kind) != from.kind) return;
    bool reduced[] = {kind != 1, kind != 2};
    Slot made{make(kind), kind, Values(static_cast<size_t>(shapes_[kind].rows * shapes_[kind].columns)), from.failure,
              from.failed};
    Array kept(made.array.storage(),
               Layout::dense(DType::u64, kind == 3 ? Dims(0) : Dims{shapes_[kind].rows * shapes_[kind].columns}));
    Scalar zero{};
    issue([&](Op& op) { build_reduce(op, {"add", "sum", kAdd.loop}, from.array, reduced, nullptr, &zero, kept); });
    for (int64_t r = 0; from.failure.empty() && r < shapes_[from.kind].rows; ++r)
      for (int64_t c = 0; c < shapes_[from.kind].columns; ++c)
        made.values[static_cast<size_t>(kind == 1 ? r : kind == 2 ? c : 0)] += at(from, r, c);
    out = std::move(made);
  }

  std::mt19937 random_;
  uint64_t failed_ = 0;
  Shape shapes_[4];
  Slot slots_[kSlots];
};

}  // namespace forerun::test
