// Tasks that wait for operations that they have issued, for other tasks among these, and for operations issued after
// them: they end, however few workers there are and however little memory, and at most as many operations that do not
// wait run at once as there are workers.
#include <atomic>
#include <filesystem>
#include <thread>

#include "cpu/threads.h"
#include "program.h"

using namespace forerun;
using namespace forerun::test;

namespace {

constexpr size_t kBytes = 800;             // size of a plain op's result; a task's needs no memory
constexpr uint32_t kLong = 1'000'000'000;  // ns: too long for a waiting thread

std::atomic<int> active{0}, most{0};

// While it lives, its task is working, and does not wait.
struct AtWork {
  AtWork() {
    int now = ++active, before = most;
    while (before < now && !most.compare_exchange_weak(before, now)) {
    }
  }
  ~AtWork() { --active; }
};

template <class K, class... Args>
Buffer* issued(int device, uint32_t cost, bool inner, Args&&... args) {
  Engine& engine = Engine::get();
  Buffer* buffer = Buffer::make(std::is_same_v<K, Fill> ? kBytes : 8, engine.devices[device].budget.get());
  buffer->retain_handle();
  Op* op = engine.make_op();
  op->queue = engine.devices[device].compute.get(), op->budget = buffer->budget;
  op->cost = cost, op->inner = inner;
  op->emplace<K>(std::forward<Args>(args)...);
  op->add(buffer, Mode::write);
  engine.issue(op);
  return buffer;
}

uint64_t taken(Buffer* buffer) {
  wait_for(*buffer);
  check(!buffer->failure, "an operation that a task waits for does not fail");
  uint64_t value = *reinterpret_cast<uint64_t*>(buffer->data());
  buffer->release_handle();
  return value;
}

void put(Op& op, uint64_t value) {
  *reinterpret_cast<uint64_t*>(static_cast<Buffer*>(op.access(0).storage)->data()) = value;
}

// Issues some ops, of which some are tasks like itself, and computes the sum of their results.
struct Tree final : Kernel {
  uint32_t seed;
  int depth;
  Tree(uint32_t seed, int depth) : seed(seed), depth(depth) {}
  const char* name() const override { return "tree"; }
  // Calls f(i, device, whether it is a task, cost, seed) for each op.
  template <class F>
  void each(F f) const {
    std::mt19937 random(seed);
    for (uint32_t i = 0, n = 1 + random() % 3; i < n; ++i) {
      int device = static_cast<int>(random() % 2);
      bool task = depth > 0 && random() % 2;
      f(device, task, random() % 2 ? kLong : 1000, static_cast<uint32_t>(random()));
    }
  }
  uint64_t expected() const {
    uint64_t sum = 0;
    each([&](int, bool task, uint32_t, uint32_t value) { sum += task ? Tree(value, depth - 1).expected() : value; });
    return sum;
  }
  void run(Op& op, int64_t) override {
    std::vector<Buffer*> parts;
    {
      AtWork at_work;
      each([&](int device, bool task, uint32_t cost, uint32_t value) {
        parts.push_back(task ? issued<Tree>(device, UINT32_MAX, true, value, depth - 1)
                             : issued<Fill>(device, cost, true, value));
      });
    }
    uint64_t sum = 0;
    for (Buffer* part : parts) sum += taken(part);
    put(op, sum);
  }
};

// Waits for an op that is issued after it, outside of any task.
struct Later final : Kernel {
  std::atomic<Buffer*>& awaited;
  std::chrono::milliseconds pause;  // before it waits: workers park meanwhile
  Later(std::atomic<Buffer*>& awaited, std::chrono::milliseconds pause) : awaited(awaited), pause(pause) {}
  const char* name() const override { return "later"; }
  void run(Op& op, int64_t) override {
    while (!awaited) std::this_thread::yield();
    std::this_thread::sleep_for(pause);
    put(op, taken(awaited));
  }
};

// Runs until it is released.
struct Held final : Kernel {
  std::atomic<bool>&begun, &go;
  Held(std::atomic<bool>& begun, std::atomic<bool>& go) : begun(begun), go(go) {}
  const char* name() const override { return "held"; }
  void run(Op& op, int64_t) override {
    begun = true;
    while (!go) std::this_thread::yield();
    put(op, 1);
  }
};

// Waits for a task that it issues, and releases the held one.
struct Frees final : Kernel {
  std::atomic<bool>&may_begin, &go;
  Frees(std::atomic<bool>& may_begin, std::atomic<bool>& go) : may_begin(may_begin), go(go) {}
  const char* name() const override { return "frees"; }
  void run(Op& op, int64_t) override {
    while (!may_begin) std::this_thread::yield();
    put(op, taken(issued<Tree>(0, UINT32_MAX, true, 1, 0)));
    go = true;
  }
};

struct Brief final : Kernel {
  const char* name() const override { return "brief"; }
  void run(Op&, int64_t) override {
    AtWork at_work;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
};

void set_up(const std::vector<int>& workers, bool tight) {
  Engine& engine = Engine::get();
  wait_all();
  stop_workers();
  engine.configure(workers, 2);
  for (int d = 0; d < 2; ++d) engine.devices[d].budget->soft.store(tight ? 1000 : SIZE_MAX);
}

size_t threads() {
  size_t n = 0;
  for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator("/proc/self/task")) ++n;
  return n;
}

// The operations of a task are found behind more than a few ops that may not start, even if another task does not wait.
void a_nested_task_runs_before_ops_that_lack_memory() {
  set_up({2, 1}, true);
  std::atomic<bool> begun{false}, may_begin{false}, go{false};
  std::vector<Buffer*> all{issued<Held>(0, UINT32_MAX, false, begun, go),
                           issued<Frees>(0, UINT32_MAX, false, may_begin, go)};
  while (!begun) std::this_thread::yield();
  for (int i = 0; i < 40; ++i) all.push_back(issued<Fill>(0, kLong, false, 1));
  may_begin = true;
  for (Buffer* b : all) taken(b);
}

// While tasks wait for tasks of their own, these run first: otherwise nearly each of the others would occupy a thread,
// only to wait, too.
void few_threads_wait() {
  set_up({2, 1}, false);
  size_t before = threads();
  std::vector<Buffer*> trees;
  constexpr uint32_t kTrees = 600;
  for (uint32_t i = 0; i < kTrees; ++i) trees.push_back(issued<Tree>(0, UINT32_MAX, false, i, 2));
  for (Buffer* tree : trees) taken(tree);
  size_t more = threads() - before;
  check(more <= kTrees / 2,
        "tasks do not wait in a thread each, got " + std::to_string(more) + " for " + std::to_string(kTrees));
}

void run_all(const std::vector<int>& workers, bool tight, uint32_t seed) {
  set_up(workers, tight);
  std::vector<Buffer*> trees;
  for (uint32_t i = 0; i < 20; ++i)
    trees.push_back(issued<Tree>(static_cast<int>(i % 2), UINT32_MAX, false, seed + i, 3));
  for (uint32_t i = 0; i < 20; ++i)
    check(taken(trees[i]) == Tree(seed + i, 3).expected(), "a tree has the sum of its parts");
  for (uint32_t i = 0; i < 10; ++i) {
    int device = static_cast<int>(i % 2);
    std::atomic<Buffer*> awaited{nullptr};
    Buffer *task = issued<Later>(device, UINT32_MAX, false, awaited, std::chrono::milliseconds(i < 2 ? 40 : 0)),
           *between = issued<Fill>(device, kLong, false, 1);
    Buffer* last = i < 5 ? issued<Fill>(device, kLong, false, i) : issued<Tree>(device, UINT32_MAX, false, seed + i, 2);
    awaited = last;
    check(taken(task) == (i < 5 ? i : Tree(seed + i, 2).expected()),
          "a task has the result of an operation issued after it");
    taken(between);
  }
  active = most = 0;
  std::vector<Buffer*> brief;
  for (int i = 0; i < 50; ++i) brief.push_back(issued<Brief>(0, UINT32_MAX, false));
  for (Buffer* b : brief) wait_for(*b), b->release_handle();
  check(most <= workers[0], "no more tasks run at once than there are workers, got " + std::to_string(most));
}

}  // namespace

int main() {
  use_cpu_workers(Engine::get());
  Engine::get().configure({1, 1}, 2);
  a_nested_task_runs_before_ops_that_lack_memory();
  few_threads_wait();
  uint32_t seed = 1;
  for (int round = 0; round < (kSanitized ? 3 : 20); ++round)
    for (bool tight : {false, true})
      for (const std::vector<int>& workers : {std::vector<int>{1, 1}, {2, 1}, {3, 3}})
        run_all(workers, tight, seed += 100);
  wait_all();
  stop_workers();
  return 0;
}
