// Fused steps of a captured program: overlapping runs of several threads yield the values of the operations in order.
#include <memory>
#include <thread>
#include <vector>

#include "calculation.h"
#include "capture/captured_program.h"
#include "cpu/kernels/copy/copy.h"
#include "cpu/threads.h"

using namespace forerun;
using namespace forerun::test;

namespace {

using Captured = forerun::Program;

thread_local Recording* recording = nullptr;

MemoryBudget* budget() { return Engine::get().devices[0].budget.get(); }

Op* new_op() {
  Engine& engine = Engine::get();
  while (engine.ring.full()) engine.waiter.make_room(std::chrono::milliseconds(50));
  Op* op = engine.make_op();
  op->queue = engine.devices[0].compute.get(), op->budget = budget();
  return op;
}

Array computed(const Named& function, const Array& a, const Array& b, const Array* into = nullptr) {
  const Array out = into ? *into : Array::make(DType::u64, a.layout.shape, budget());
  DType types[] = {DType::u64, DType::u64, DType::u64};
  Operand inputs[] = {{&a, {}}, {&b, {}}};
  const Array* outputs[] = {&out};
  Op* op = new_op();
  build_elementwise(*op, function.name, function.loop, types, inputs, 2, outputs, 1);
  if (recording) recording->add(*op);
  Engine::get().issue(op);
  return out;
}

Array part(const Array& a, int64_t from, int64_t to) {
  Layout layout = Layout::dense(DType::u64, Dims{to - from});
  layout.offset = from * 8;
  return {a.storage(), layout};
}

constexpr int64_t kCut = 7;

// y changes, in two parts; one result reads both.
std::vector<Array> body(const Array& x, const Array& y) {
  const int64_t n = x.layout.shape[0];
  Array z = computed(kAdd, x, y);
  for (int i = 0; i < 10; ++i) z = computed(i % 2 ? kAdd : kScale, z, x);
  const Array head = part(y, 0, n - kCut), tail = part(y, kCut, n), shifted = computed(kAdd, head, tail);
  computed(kScale, part(z, 0, n - kCut), shifted, &head);
  computed(kAdd, y, z, &y);
  return {computed(kScale, y, x), z};
}

struct Expected {
  Values y, first, second;
};
Expected in_order(const Values& x, Values y) {
  const size_t n = x.size();
  Values z(n), first(n);
  for (size_t i = 0; i < n; ++i) {
    z[i] = sum(x[i], y[i]);
    for (int k = 0; k < 10; ++k) z[i] = (k % 2 ? sum : scaled)(z[i], x[i]);
  }
  Values shifted(n - kCut);
  for (size_t i = 0; i < n - kCut; ++i) shifted[i] = sum(y[i], y[i + kCut]);
  for (size_t i = 0; i < n - kCut; ++i) y[i] = scaled(z[i], shifted[i]);
  for (size_t i = 0; i < n; ++i) y[i] = sum(y[i], z[i]), first[i] = scaled(y[i], x[i]);
  return {std::move(y), std::move(first), std::move(z)};
}

Array array_of(const Values& values) {
  const Array made = Array::make(DType::u64, Dims{static_cast<int64_t>(values.size())}, budget());
  check(made.storage()->take(), "there is memory");
  std::memcpy(made.storage()->data(), values.data(), values.size() * 8);
  made.storage()->materialized = true;
  made.storage()->count_write_at_once();
  return made;
}

bool has(const Array& array, const Values& values) {
  wait_for(*array.storage());
  return std::memcmp(array.storage()->data(), values.data(), values.size() * 8) == 0;
}

std::vector<Array> run(const Captured& program, const Array& x, const Array& y) {
  const std::vector<const Array*> inputs = {&x, &y};
  check(program.takes(inputs), "it takes arrays like those of the capture");
  const Captured::Storages storages = program.storages(inputs);
  if (program.whole()) {
    Op* op = new_op();
    program.build(*op, storages, 0, 0);
    Engine::get().issue(op);
  } else {
    for (const auto& step : program.steps()) {
      Op* op = new_op();
      program.build_step(*op, *step, storages, 0, 0);
      Engine::get().issue(op);
    }
  }
  std::vector<Array> outputs;
  for (const Captured::View& view : program.outputs())
    outputs.emplace_back(storages.at[static_cast<size_t>(view.slot)], view.layout);
  return outputs;
}

void values_of_runs(const std::vector<int>& workers, int64_t n, int threads, int runs) {
  Engine& engine = Engine::get();
  wait_all();
  stop_workers();
  engine.configure(workers, 1);
  engine.passes.set_apart_from(0);
  Values ones(static_cast<size_t>(n), 1);
  const Array x = array_of(ones), y = array_of(ones);
  Recording made({x, y});
  recording = &made;
  const std::vector<Array> results = body(x, y);
  recording = nullptr;
  const std::shared_ptr<const Captured> program = made.finish(results);
  check(program->op_names().size() == 15, "all operations are recorded");
  check(program->steps().size() < 6, "most of them are fused, got " + std::to_string(program->steps().size()));
  const Expected captured = in_order(ones, ones);
  check(has(results[0], captured.first) && has(results[1], captured.second) && has(y, captured.y),
        "values of the capture");
  auto go = [&](int thread) {
    std::vector<Array> kept;
    std::vector<Expected> expected;
    for (int i = 0; i < runs; ++i) {
      Values a(static_cast<size_t>(n)), b(static_cast<size_t>(n));
      for (size_t k = 0; k < a.size(); ++k)
        a[k] = k * static_cast<size_t>(thread + 1), b[k] = k + static_cast<size_t>(i);
      const Array p = array_of(a), q = array_of(b);
      std::vector<Array> found = run(*program, p, q);
      kept.insert(kept.end(), {found[0], found[1], q});
      expected.push_back(in_order(a, b));
    }
    for (size_t i = 0; i < expected.size(); ++i)
      check(has(kept[3 * i], expected[i].first) && has(kept[3 * i + 1], expected[i].second) &&
                has(kept[3 * i + 2], expected[i].y),
            "values of a run");
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(go, t);
  go(0);
  for (std::thread& thread : others) thread.join();
  wait_all();
}

}  // namespace

int main() {
  use_cpu_workers(Engine::get());
  const int runs = kSanitized ? 4 : 20;
  for (const std::vector<int>& workers : {std::vector<int>{1}, {4}})
    for (int64_t n : {100, 5000, 70'000})
      for (int threads : {1, 3}) values_of_runs(workers, n, threads, runs);
  stop_workers();
  return 0;
}
