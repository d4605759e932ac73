// Completions and their queues: each completion that is not cancelled is reported, once, in order, not too early, and
// with its failure.
#include <poll.h>

#include <memory>
#include <thread>

#include "cpu/threads.h"
#include "program.h"

using namespace forerun;
using namespace forerun::test;

namespace {

constexpr int kPatience = 60'000;  // ms after which waits are abandoned

struct Put final : Kernel {
  bool throws;
  explicit Put(bool throws) : throws(throws) {}
  const char* name() const override { return "put"; }
  void run(Op&, int64_t) override {
    if (throws) throw Error(ErrorKind::value, "put: completed to fail");
  }
};

struct Watch : Completion {
  bool fails;  // whether the last write before it failed
  bool completed = false, gone = false;
};

// A front-end thread with a loop of its own: it issues, watches, cancels, and polls its queue, all at random.
class Loop {
 public:
  explicit Loop(uint32_t seed) : random_(seed) {
    for (Value& value : values_) {
      value.buffer = Buffer::make(random_() % 2 ? 64 : 800, Engine::get().devices[0].budget.get());
      value.buffer->retain_handle();
      issue(value);
    }
  }
  ~Loop() {
    for (auto& watch : watches_) engine_.notifier.unwatch(*watch);
    for (Value& value : values_) value.buffer->release_handle();
  }

  void step() {
    Value& value = values_[random_() % 8];
    switch (random_() % 8) {
      case 0:
      case 1: return watch(value);
      case 2: return release_one();
      case 3: return hear(false);
      default: return issue(value);
    }
  }
  void hear_all() {
    while (left_ > 0) hear(true);
    hear(false);
  }

 private:
  struct Value {
    Buffer* buffer;
    bool fails = false;
  };

  void issue(Value& value) {
    while (engine_.ring.full()) engine_.waiter.make_room(std::chrono::milliseconds(50));
    Op* op = engine_.make_op();
    Device& d = engine_.devices[0];
    op->queue = random_() % 4 ? d.compute.get() : d.copy.get(), op->budget = d.budget.get();
    op->cost = random_() % 2 ? 100 : 5000;
    op->emplace<Put>(value.fails = random_() % 16 == 0);
    op->add(value.buffer, Mode::write);
    engine_.issue(op);
  }

  void watch(Value& value) {
    watches_.push_back(std::make_unique<Watch>());
    Watch& w = *watches_.back();
    w.fails = value.fails;
    if (engine_.watch(w, *value.buffer, queue_))
      ++left_;
    else
      completed(w);
  }

  void release_one() {
    if (watches_.empty()) return;
    Watch& w = *watches_[random_() % watches_.size()];
    engine_.notifier.unwatch(w);
    if (!w.completed && !w.gone) w.gone = true, --left_;
  }

  void hear(bool wait) {
    pollfd at{queue_.descriptor(), POLLIN, 0};
    int ready = poll(&at, 1, wait ? kPatience : 0);
    check(!wait || ready == 1, "no completion was reported, and " + std::to_string(left_) + " are left");
    if (ready == 0) return;
    Completion* found[3];
    size_t n = engine_.notifier.pop_completed(queue_, found, 3);
    for (size_t i = 0; i < n; ++i) --left_, completed(static_cast<Watch&>(*found[i]));
  }

  void completed(Watch& w) {
    check(!w.completed && !w.gone, "reported once, and only if it is not cancelled");
    w.completed = true;
    check(w.storage->has_ended(w.target), "completed when all writes before it have ended");
    check(static_cast<bool>(w.failure) == w.fails, "completed with the failure that the values had then");
  }

  Engine& engine_ = Engine::get();
  std::mt19937 random_;
  CompletionQueue queue_{engine_.notifier};
  Value values_[8];
  std::vector<std::unique_ptr<Watch>> watches_;
  int left_ = 0;
};

void in_threads(void (*work)(uint32_t)) {
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
  wait_all();
}

void all_watches_complete(uint32_t thread) {
  for (uint32_t round = 0; round < 5; ++round) {
    Loop loop(10 * round + thread);
    for (int i = 0; i < 2000; ++i) loop.step();
    loop.hear_all();
  }
}

void loops_end_before_completions(uint32_t thread) {
  for (uint32_t round = 0; round < 500; ++round) {
    auto loop = std::make_unique<Loop>(10 * round + thread);
    for (int i = 0; i < 40; ++i) loop->step();
  }
}

}  // namespace

int main() {
  use_cpu_workers(Engine::get());
  for (const std::vector<int>& workers : {std::vector<int>{1}, {3}}) {
    stop_workers();
    Engine::get().configure(workers, 2);
    in_threads(all_watches_complete);
    in_threads(loops_end_before_completions);
  }
  stop_workers();
  return 0;
}
