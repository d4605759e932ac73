// Threads that use the same arrays: they update and read them, wait for them, and drop and replace them, while the
// engine is stopped, held, and switched to other passes. `test_shared_arrays [steps]`.
#include <algorithm>
#include <memory>
#include <thread>

#include "cpu/threads.h"
#include "program.h"

using namespace forerun;
using namespace forerun::test;

namespace {

constexpr int kSteps = kSanitized ? 20'000 : 60'000;
constexpr size_t kElements = 64, kBytes = kElements * 8;

uint64_t* values(Storage* storage) { return reinterpret_cast<uint64_t*>(static_cast<Buffer*>(storage)->data()); }

// out[i] += by: the order of such ops does not matter.
struct Add final : Kernel {
  uint64_t by;
  explicit Add(uint64_t by) : by(by) {}
  const char* name() const override { return "add"; }
  bool droppable() const override { return true; }
  void run(Op& op, int64_t) override {
    std::for_each_n(values(op.access(0).storage), kElements, [&](uint64_t& x) { x += by; });
  }
};

struct CopyAll final : Kernel {
  const char* name() const override { return "copy"; }
  bool droppable() const override { return true; }
  void run(Op& op, int64_t) override {
    std::copy_n(values(op.access(1).storage), kElements, values(op.access(0).storage));
  }
};

template <class K, class... Args>
void issue(std::vector<std::pair<Buffer*, Mode>> accesses, uint32_t cost, Args... args) {
  Engine& engine = Engine::get();
  while (engine.ring.full()) engine.waiter.make_room(std::chrono::milliseconds(50));
  Op* op = engine.make_op();
  int device = accesses[0].first->budget->device;
  op->queue = engine.devices[device].compute.get(), op->budget = engine.devices[device].budget.get();
  op->cost = cost;
  op->emplace<K>(args...);
  for (auto [buffer, mode] : accesses) op->add(buffer, mode);
  engine.issue(op);
}

Buffer* new_buffer() {
  Buffer* buffer = Buffer::make(kBytes, Engine::get().devices[0].budget.get());
  buffer->retain_handle();
  return buffer;
}

// An array of zeros to which threads add, and the sum that they have added. The last thread to release it drops the
// handle.
struct Counter {
  Buffer* buffer = new_buffer();
  std::atomic<uint64_t> added{0};
  Counter() { issue<Fill>({{buffer, Mode::write}}, 100, uint64_t{0}); }
  ~Counter() { buffer->release_handle(); }
  // Fill writes i into element i.
  void check_total() {
    wait_for(*buffer);
    check(!buffer->failure, "nothing has failed");
    for (size_t i = 0; i < kElements; ++i)
      check(values(buffer)[i] == added.load() + i, "a counter has the sum that all threads added");
  }
};

class Shared {
 public:
  Shared() {
    for (auto& slot : slots_) slot = std::make_shared<Counter>();
  }
  std::shared_ptr<Counter> get(size_t i) {
    std::lock_guard held(mutex_);
    return slots_[i % kSlots];
  }
  void replace(size_t i) {
    auto fresh = std::make_shared<Counter>();
    std::lock_guard held(mutex_);
    slots_[i % kSlots].swap(fresh);
  }
  void check_all() {
    for (auto& slot : slots_) slot->check_total();
  }

 private:
  static constexpr size_t kSlots = 6;
  std::mutex mutex_;
  std::shared_ptr<Counter> slots_[kSlots];  // guarded by mutex_
};

// A read of a counter: an op copies it as a whole, between two updates.
void check_look(Buffer* look) {
  wait_for(*look);
  for (size_t i = 0; i < kElements; ++i) check(values(look)[i] == values(look)[0] + i, "no op sees half of an update");
}

void use(Shared& shared, uint32_t seed, int steps) {
  std::mt19937 random(seed);
  Buffer* looks[4] = {};
  for (int step = 0; step < steps; ++step) {
    auto counter = shared.get(random());
    uint32_t cost = random() % 4 ? 100 : 50'000;
    Buffer*& look = looks[random() % 4];
    switch (random() % 16) {
      case 0: wait_for(*counter->buffer); break;
      case 1: shared.replace(random()); break;
      case 2:
        if (look) check_look(look);
        break;
      case 3:
      case 4:
        if (look) look->release_handle();
        look = new_buffer();
        issue<CopyAll>({{look, Mode::write}, {counter->buffer, Mode::read}}, cost);
        break;
      default:
        uint64_t by = random() % 1000;
        counter->added.fetch_add(by);
        issue<Add>({{counter->buffer, Mode::update}}, cost, by);
    }
  }
  for (Buffer* look : looks)
    if (look) check_look(look), look->release_handle();
}

void interfere(const std::atomic<bool>& over) {
  Engine& engine = Engine::get();
  std::mt19937 random(7);
  while (!over.load()) {
    engine.passes.set(static_cast<int>(random() % 8));
    engine.gate(true);
    for (int i = static_cast<int>(random() % 100); i > 0; --i) std::this_thread::yield();
    engine.gate(false);
    if (random() % 4 == 0) stop_workers();
    engine.introspection.stats();
    std::this_thread::yield();
  }
  engine.passes.set(7);
}

void run(int workers, int threads, uint64_t ops_ahead, int steps) {
  wait_all();
  stop_workers();
  Engine::get().configure({workers}, std::max(1, workers));
  Engine::get().set_ops_ahead(ops_ahead);
  int64_t before = FreeList<Buffer>::in_use();
  {
    Shared shared;
    std::atomic<bool> over{false};
    std::thread other([&] { interfere(over); });
    std::vector<std::thread> users;
    for (int t = 0; t < threads; ++t) users.emplace_back([&, t] { use(shared, static_cast<uint32_t>(t), steps); });
    for (std::thread& user : users) user.join();
    over.store(true);
    other.join();
    shared.check_all();
  }
  wait_all();
  stop_workers();
  check(FreeList<Buffer>::in_use() == before && FreeList<Op>::in_use() == 0, "all storages and ops came back");
}

}  // namespace

int main(int argc, char** argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : kSteps;
  use_cpu_workers(Engine::get());
  run(1, 4, 1 << 12, steps);
  run(3, 4, 1 << 12, steps);
  run(3, 6, 32, steps / 2);
  run(0, 3, 256, steps / 4);
  check(Engine::get().devices[0].budget->live.load() == 0, "all memory came back");
  return 0;
}
