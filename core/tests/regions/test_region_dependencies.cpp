// Random programs on blocks, rows and columns of the same matrices: values equal those of the programs in order, and
// each failure poisons the regions that overlap it. `test_region_dependencies [steps]`.
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "array/array.h"
#include "cpu/kernels/copy/copy.h"
#include "cpu/kernels/elementwise/elementwise.h"
#include "cpu/threads.h"
#include "program.h"
#include "regions/layout_parts.h"

using namespace forerun;
using namespace forerun::test;

namespace {

uint64_t sum(uint64_t a, uint64_t b) { return a + b; }
uint64_t scaled(uint64_t a, uint64_t b) { return 3 * a + 7 * b; }
uint64_t refused(uint64_t a, uint64_t b) {
  if (a % 256 == 5) throw Error(ErrorKind::value, "refused: must not be " + std::to_string(a));
  return a ^ b;
}
using Function = uint64_t (*)(uint64_t, uint64_t);
template <Function f>
void loop_of(char** args, const intptr_t* n, const intptr_t* steps, void*) {
  for (intptr_t i = 0; i < *n; ++i) {
    uint64_t a, b;
    std::memcpy(&a, args[0] + i * steps[0], 8), std::memcpy(&b, args[1] + i * steps[1], 8);
    uint64_t y = f(a, b);
    std::memcpy(args[2] + i * steps[2], &y, 8);
  }
}
struct Named {
  const char* name;
  Function f;
  Loop loop;
};
const Named kFunctions[] = {{"sum", sum, {loop_of<sum>}},
                            {"scaled", scaled, {loop_of<scaled>}},
                            {"refused", refused, {loop_of<refused>, nullptr, false, true}}};

constexpr int64_t kSide = 24;

// A program over matrices, also executed in order.
class Blocks {
 public:
  explicit Blocks(uint32_t seed, bool failures) : random_(seed), failures_(failures) {
    for (Matrix& m : matrices_) renew(m);
  }
  ~Blocks() {
    for (auto& [block, bytes] : given_) block->release();
  }

  void step(bool may_wait) {
    Matrix& m = matrices_[random_() % kMatrices];
    switch (random_() % 40) {
      case 0: return renew(m);
      case 1: return may_wait ? check_part(m) : renew(m);
      case 2: return may_wait ? give(m) : fill(m);
      case 3: return fill(m);
      case 4: return mix(m, Layout::dense(DType::u64, Dims{kSide, kSide}));
      default: return mix(m, part(Layout::dense(DType::u64, Dims{kSide, kSide})));
    }
  }

  void check_all() {
    for (Matrix& m : matrices_) check_layout(m, Layout::dense(DType::u64, Dims{kSide, kSide}));
    for (auto& [block, bytes] : given_)
      check(std::memcmp(block->data, bytes.data(), bytes.size()) == 0, "values given to a reader do not change");
  }

 private:
  static constexpr int kMatrices = 3;
  struct Bad {
    Region region;
    uint64_t number;
    std::string text;
  };
  struct Matrix {
    Array array;
    std::vector<uint64_t> values;
    std::vector<Bad> bad;
  };

  // Blocks of a grid, so that many are equal, or any part.
  Layout part(const Layout& whole) {
    if (random_() % 4 == 0) return part_of(whole, random_, random_() % 4 == 0);
    Layout block = whole;
    block.shape = Dims{kSide / 4, kSide / 4}, block.size = kSide * kSide / 16;
    block.offset = static_cast<int64_t>(random_() % 4) * kSide / 4 * whole.strides[0] +
                   static_cast<int64_t>(random_() % 4) * kSide / 4 * 8;
    return block;
  }
  // A part of this shape.
  Layout alike(const Layout& like) {
    Layout found = like;
    auto [low, high] = like.range();
    const auto rows = static_cast<int64_t>(kSide - (high - 1) / (kSide * 8) + low / (kSide * 8));
    if (random_() % 2) found.offset += (static_cast<int64_t>(random_() % rows) - low / (kSide * 8)) * kSide * 8;
    return found;
  }
  template <class F>
  void each(const Layout& layout, F f) {
    for (int64_t i = 0; i < layout.size; ++i) {
      const int64_t at = layout.offset + offset_at(i, layout.shape, layout.strides);
      f(i, static_cast<size_t>(at / 8));
    }
  }

  Op* make() {
    Engine& engine = Engine::get();
    while (engine.ring.full()) engine.waiter.make_room(std::chrono::milliseconds(50));
    Op* op = engine.make_op();
    op->queue = engine.devices[0].compute.get(), op->budget = engine.devices[0].budget.get();
    return op;
  }
  // Small ops are in order with all others; tasks may sleep, and their duration is not known.
  void issue(Op* op) {
    op->cost = random_() % 5 == 0 ? 100 : random_() % 5 == 0 ? UINT32_MAX : 5000;
    if (random_() % 8 == 0) op->queue = Engine::get().devices[0].copy.get();
    Engine::get().issue(op);
  }

  void renew(Matrix& m) {
    m.array = Array::make(DType::u64, Dims{kSide, kSide}, Engine::get().devices[0].budget.get());
    m.bad.clear();
    fill(m);
  }
  void fill(Matrix& m) {
    m.values.resize(kSide * kSide), m.bad.clear();
    uint64_t value = random_() % 1000 * 256;
    if (random_() % 4 == 0 &&
        m.array.storage()->issued.load() == 0) {  // part by part, into memory that is not allocated yet
      for (int64_t row = 0; row < kSide; row += 4) {
        Op* op = make();
        Layout rows = Layout::dense(DType::u64, Dims{4, kSide});
        rows.offset = row * kSide * 8;
        Scalar scalar{};
        std::memcpy(scalar.bytes, &value, 8);
        build_fill(*op, scalar, Array(m.array.storage(), rows));
        issue(op);
      }
      std::fill(m.values.begin(), m.values.end(), value);
      return;
    }
    Op* op = make();
    op->emplace<Fill>(value);
    op->add(m.array.storage(), Mode::write);
    issue(op);
    for (size_t i = 0; i < m.values.size(); ++i) m.values[i] = value + i;
  }

  static const Bad* worst(const Matrix& m, const Layout& layout) {
    const Bad* first = nullptr;
    Region region = region_of(layout);
    for (const Bad& bad : m.bad)
      if (!bad.region.apart(region) && (!first || bad.number < first->number)) first = &bad;
    return first;
  }
  static Region region_of(const Layout& layout) {
    return layout.nbytes() == kSide * kSide * 8 ? Region{} : layout.region();
  }

  void mix(Matrix& m, const Layout& to) {
    const Named& named = kFunctions[random_() % (failures_ ? 3 : 2)];
    Matrix &ma = random_() % 2 ? m : matrices_[random_() % kMatrices], &mb = matrices_[random_() % kMatrices];
    Layout a = alike(to), b = alike(to);
    Array out(m.array.storage(), to), in_a(ma.array.storage(), a), in_b(mb.array.storage(), b);
    DType types[] = {DType::u64, DType::u64, DType::u64};
    Operand inputs[] = {{&in_a, {}}, {&in_b, {}}};
    const Array* outputs[] = {&out};
    Op* op = make();
    build_elementwise(*op, named.name, named.loop, types, inputs, 2, outputs, 1);
    issue(op);
    const Bad* found = nullptr;
    const bool whole = to.nbytes() == kSide * kSide * 8, reads = &ma == &m || &mb == &m;
    auto look = [&](const Bad* bad) {
      if (bad && (!found || bad->number < found->number)) found = bad;
    };
    look(worst(ma, a)), look(worst(mb, b));
    if (!whole || reads) look(worst(m, to));
    Bad result{region_of(to), 0, ""};
    if (found) {
      result.number = found->number, result.text = found->text;
    } else {
      std::vector<uint64_t> x(static_cast<size_t>(to.size)), y = x;
      each(a, [&](int64_t i, size_t at) { x[static_cast<size_t>(i)] = ma.values[at]; });
      each(b, [&](int64_t i, size_t at) { y[static_cast<size_t>(i)] = mb.values[at]; });
      try {
        for (size_t i = 0; i < x.size(); ++i) x[i] = named.f(x[i], y[i]);
        each(to, [&](int64_t i, size_t at) { m.values[at] = x[static_cast<size_t>(i)]; });
      } catch (const Error& error) {
        result.number = ++failed_, result.text = error.what();
      }
    }
    if (whole) m.bad.clear();
    if (result.text.empty()) return;
    std::erase_if(m.bad, [&](const Bad& bad) { return bad.region == result.region; });
    m.bad.push_back(result);
  }

  // A reader outside the engine keeps the values that it has read.
  void give(Matrix& m) {
    wait_for(*m.array.storage());
    if (!m.array.storage()->settled() || m.array.storage()->failure) return;
    Block* block = m.array.storage()->share();
    given_.emplace_back(block, std::vector<char>(block->data, block->data + kSide * kSide * 8));
    if (given_.size() < 4) return;
    given_.front().first->release();
    given_.erase(given_.begin());
  }

  void check_part(Matrix& m) { check_layout(m, part(Layout::dense(DType::u64, Dims{kSide, kSide}))); }
  void check_layout(Matrix& m, const Layout& layout) {
    Storage& storage = *m.array.storage();
    while (!storage.settled()) wait_for(storage);
    const Bad* bad = worst(m, layout);
    FailurePtr failure = storage.failure_in(region_of(layout));
    check((failure ? failure->message : "") == (bad ? bad->text : ""),
          "failure: got '" + (failure ? failure->message : "") + "' instead of '" + (bad ? bad->text : "") + "'");
    if (bad) return;
    auto* data = reinterpret_cast<uint64_t*>(m.array.storage()->data());
    each(layout, [&](int64_t, size_t at) {
      if (!worst_at(m, at)) check(data[at] == m.values[at], "value at " + std::to_string(at));
    });
  }
  static bool worst_at(const Matrix& m, size_t at) {
    Layout one;
    one.dtype = DType::u64, one.offset = static_cast<int64_t>(at) * 8;
    return worst(m, one);
  }

  Random random_;
  bool failures_;
  uint64_t failed_ = 0;
  Matrix matrices_[kMatrices];
  std::vector<std::pair<Block*, std::vector<char>>> given_;
};

void run(const std::vector<int>& workers, int threads, bool failures, int passes, bool traced, uint32_t apart_from,
         int steps) {
  Engine& engine = Engine::get();
  wait_all();
  stop_workers();
  engine.configure(workers, 3);
  engine.passes.set(passes), engine.passes.set_fuse_from(0), engine.passes.set_apart_from(apart_from);
  if (traced) engine.introspection.record_into(nullptr);
  auto go = [=](uint32_t t) {
    for (uint32_t seed = 0; seed < 4; ++seed) {
      Blocks blocks(100 * t + seed, failures);
      for (int i = 0; i < steps; i += 40) {
        bool held = i % 80 == 0;  // until all of them are issued
        if (held) Engine::get().gate(true);
        for (int k = 0; k < 40; ++k) blocks.step(!held);
        if (held) Engine::get().gate(false);
        if (i % 160 == 0) blocks.check_all();
      }
      blocks.check_all();
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(go, t);
  go(0);
  for (std::thread& thread : others) thread.join();
  wait_all();
  if (traced) engine.introspection.take_record();
  MemoryBudget& budget = *engine.devices[0].budget;
  check(budget.running == 0 && budget.reserved.load() == 0, "nothing runs");
}

}  // namespace

int main(int argc, char** argv) {
  use_cpu_workers(Engine::get());
  int steps = argc > 1 ? std::atoi(argv[1]) : kSanitized ? 480 : 3200;
  for (bool failures : {false, true})
    for (int passes : {16, 31, 15, 18}) run({4}, 2, failures, passes, passes == 31, passes == 18 ? 0 : 2000, steps);
  run({1}, 1, true, 31, false, 0, steps);
  run({0}, 2, true, 31, false, 2000, steps);
  wait_all();
  stop_workers();
  return 0;
}
