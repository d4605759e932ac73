// A device that works on its own: ops are handed over to its lanes and end later, in any order; values and failures
// equal those of the program executed in order.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <thread>

#include "cpu/threads.h"
#include "program.h"

using namespace forerun;
using namespace forerun::test;

namespace {

constexpr int kDevice = 1;  // the one with lanes; device 0 lacks them

// Runs ops in the order of the hand-overs, on a thread of its own, or during the hand-over while it is idle; reports
// ends in another order.
class FakeDevice {
 public:
  explicit FakeDevice(uint32_t seed) : random_(seed), thread_([this] { serve(); }) {}
  ~FakeDevice() {
    std::unique_lock<std::mutex> held(mutex_);
    stop_ = true, wake_.notify_all();
    held.unlock();
    thread_.join();
  }

  class FakeLane final : public Lane {
   public:
    explicit FakeLane(FakeDevice& device) : device_(device) {}
    Outcome hand_over(Op& op) override { return device_.take(op); }
    bool follows(const Lane& before) const override {
      const auto* other = dynamic_cast<const FakeLane*>(&before);
      return other && &other->device_ == &device_;
    }

   private:
    FakeDevice& device_;
  };
  FakeLane compute{*this}, copy{*this};

  std::atomic<int> taken{0};
  std::atomic<bool> refuses{false};  // all ops that need memory
  std::atomic<bool> throws{false};   // the next hand-over fails
  std::atomic<bool> held{false};     // no op that has been handed over runs
  std::atomic<int> behind{0};        // ops received while an earlier one had not ended

 private:
  Lane::Outcome take(Op& op) {
    std::unique_lock<std::mutex> held_lock(mutex_);
    if (refuses || (in_flight_ > 0 && !held && random_() % 32 == 0)) return Lane::Outcome::no_memory;
    if (throws.exchange(false)) throw Error(ErrorKind::value, "the hand-over failed");
    ++taken;
    if (in_flight_ > 0) ++behind;
    ++in_flight_;
    if (in_flight_ == 1 && !held && random_() % 4 == 0) {  // it ends before the hand-over has returned
      held_lock.unlock();
      FailurePtr failure = run(op);
      end(op, failure);
      return Lane::Outcome::accepted;
    }
    todo_.push_back(&op);
    wake_.notify_all();
    return Lane::Outcome::accepted;
  }

  void serve() {
    std::vector<std::pair<Op*, FailurePtr>> done;
    for (;;) {
      std::unique_lock<std::mutex> held_lock(mutex_);
      const bool idle = todo_.empty() || held;
      if (idle && done.empty()) {
        if (stop_) return;
        wake_.wait_for(held_lock, std::chrono::milliseconds(1));
        continue;
      }
      Op* op = nullptr;
      if (!idle) op = todo_.front(), todo_.pop_front();
      const uint32_t dice = random_();
      held_lock.unlock();
      if (op) done.emplace_back(op, run(*op));
      if (op && dice % 4 != 0) continue;                               // several ends come together,
      std::shuffle(done.begin(), done.end(), std::minstd_rand(dice));  // the youngest perhaps first
      for (auto& [ended, failure] : done) end(*ended, failure);
      done.clear();
    }
  }

  void end(Op& op, const FailurePtr& failure) {
    {
      std::lock_guard<std::mutex> one(run_mutex_);  // from now on other threads may write them
      for (int i = 0; i < op.n_access; ++i)
        if (op.access(i).mode != Mode::read) failed_.erase(op.access(i).storage);
    }
    {
      std::lock_guard<std::mutex> held_lock(mutex_);
      --in_flight_;
    }
    Engine::get().complete(op, failure);
  }

  // An op that reads failed values fails too, with an error of the device.
  FailurePtr run(Op& op) {
    std::lock_guard<std::mutex> one(run_mutex_);
    FailurePtr failure;
    auto fails = [&](const std::string& text) {
      failure = Engine::get().failures.made(ErrorKind::value, op, [&] { return text; });
    };
    for (int i = 0; i < op.n_access; ++i) {
      Access& a = op.access(i);
      if (a.mode != Mode::write && failed_.count(a.storage)) fails("the device's own words");
    }
    try {
      for (int64_t tile = 0; tile < op.kernel()->tiles() && !failure; ++tile) op.kernel()->run(op, tile);
    } catch (const Error& error) {
      fails(error.what());
    }
    for (int i = 0; i < op.n_access; ++i) {
      if (op.access(i).mode == Mode::read) continue;
      if (failure)
        failed_.insert(op.access(i).storage);
      else
        failed_.erase(op.access(i).storage);
    }
    return failure;
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::mt19937 random_;
  std::deque<Op*> todo_;
  int in_flight_ = 0;
  bool stop_ = false;
  std::mutex run_mutex_;
  std::set<const Storage*> failed_;
  std::thread thread_;
};

void set_up(FakeDevice* device, const std::vector<int>& workers) {
  Engine& engine = Engine::get();
  wait_all();
  stop_workers();
  engine.set_lane(kDevice, Queue::Kind::compute, device ? &device->compute : nullptr);
  engine.set_lane(kDevice, Queue::Kind::copy, device ? &device->copy : nullptr);
  engine.configure(workers, 2);
}

Buffer* buffer_of(size_t n) {
  Buffer* buffer = Buffer::make(n * 8, Engine::get().devices[kDevice].budget.get());
  buffer->retain_handle();
  return buffer;
}

Op* op_of(Queue::Kind kind = Queue::Kind::compute) {
  Op* op = Engine::get().make_op();
  Device& device = Engine::get().devices[kDevice];
  op->queue = device.queues()[static_cast<size_t>(kind)], op->budget = device.budget.get(), op->cost = 5000;
  return op;
}

void fill(Buffer* to, uint64_t value) {
  Op* op = op_of();
  op->emplace<Fill>(value);
  op->add(to, Mode::write);
  Engine::get().issue(op);
}

void mix(Buffer* to, Buffer* a, bool throws) {
  Op* op = op_of();
  op->emplace<Mix>(1, 0, false, throws);
  op->add(to, Mode::write), op->add(a, Mode::read), op->add(a, Mode::read);
  Engine::get().issue(op);
}

void results_are_those_of_the_program_in_order(const std::vector<int>& workers) {
  for (uint32_t seed = 0; seed < (kSanitized ? 4 : 20); ++seed) {
    FakeDevice device(seed);
    set_up(&device, workers);
    {
      Program program(seed, 12, true);
      for (int i = 0; i < 600; ++i) program.step();
      program.check_all();
    }
    wait_all();
    check(device.taken > 0, "ops were handed over");
    set_up(nullptr, workers);
  }
}

void an_op_is_handed_over_behind_one_that_has_not_ended() {
  FakeDevice device(1);
  set_up(&device, {2, 2});
  device.held = true;
  Buffer *a = buffer_of(100), *b = buffer_of(100);
  fill(a, 1);
  for (int i = 0; i < 10; ++i) mix(b, a, false), mix(a, b, false);
  // Ops that are read are not dropped: all are.
  while (device.taken < 21) std::this_thread::yield();
  check(!a->settled() && device.behind > 0, "all are handed over, and none has ended");
  device.held = false;
  wait_for(*a);
  check(!a->failure, "they end");
  a->release_handle(), b->release_handle();
  set_up(nullptr, {2, 2});
}

void a_failure_is_that_of_the_op_that_failed() {
  FakeDevice device(2);
  set_up(&device, {2, 2});
  Engine::get().failures.take_unseen();  // of others
  device.held = true;
  Buffer *a = buffer_of(10), *b = buffer_of(10), *c = buffer_of(10), *d = buffer_of(10);
  fill(a, 1);
  mix(b, a, true);   // fails, when all is handed over
  mix(c, b, false);  // fails with it
  mix(b, a, false);  // b is overwritten,
  mix(d, b, false);  // and ops that read it afterwards succeed
  while (device.taken < 5) std::this_thread::yield();
  device.held = false;
  for (Buffer* buffer : {a, b, c, d}) wait_for(*buffer);
  check(c->failure && c->failure->message.find("told to fail") != std::string::npos,
        "the failure is the first op's, in its words");
  check(!a->failure && !b->failure && !d->failure, "an independent result is valid");
  FailureLog::Unseen unseen = Engine::get().failures.take_unseen();
  check(unseen.failures.size() == 1 && unseen.failures[0] == c->failure, "it counts once");
  for (Buffer* buffer : {a, b, c, d}) buffer->release_handle();
  set_up(nullptr, {2, 2});
}

// The op before the failing one has not ended meanwhile, so the following ops could be handed over.
void an_op_behind_a_failed_hand_over_never_reaches_the_device() {
  FakeDevice device(6);
  set_up(&device, {2, 2});
  device.held = true;
  Buffer *a = buffer_of(10), *b = buffer_of(10), *c = buffer_of(10);
  fill(a, 1);
  while (device.taken < 1) std::this_thread::yield();
  device.throws = true;
  mix(b, a, false);
  mix(c, b, false);
  while (device.throws) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  device.held = false;
  for (Buffer* buffer : {a, b, c}) wait_for(*buffer);
  check(device.taken == 1 && !a->failure, "the device had the first op alone");
  check(b->failure && c->failure == b->failure, "the others have the failure of the hand-over");
  for (Buffer* buffer : {a, b, c}) buffer->release_handle();
  Engine::get().failures.take_unseen();
  set_up(nullptr, {2, 2});
}

void a_dead_op_is_not_handed_over() {
  FakeDevice device(3);
  set_up(&device, {2, 2});
  Engine::get().gate(true);
  Buffer *a = buffer_of(100), *b = buffer_of(100);
  fill(a, 1);
  mix(b, a, false);
  b->release_handle();
  Engine::get().gate(false);
  wait_for(*a);
  wait_all();
  check(device.taken == 1, "an op whose result is not read never reaches the device");
  a->release_handle();
  set_up(nullptr, {2, 2});
}

void a_device_without_memory_is_a_memory_error() {
  FakeDevice device(4);
  set_up(&device, {2, 2});
  device.refuses = true;
  Buffer* a = buffer_of(100);
  fill(a, 1);
  wait_for(*a);
  check(a->failure && a->failure->kind == ErrorKind::memory, "an op that finds none, alone, has failed");
  device.refuses = false;
  fill(a, 2);
  wait_for(*a);
  check(!a->failure, "and the next one goes on");
  a->release_handle();
  Engine::get().failures.take_unseen();
  set_up(nullptr, {2, 2});
}

void workers_stop_while_the_device_works() {
  FakeDevice device(5);
  set_up(&device, {2, 2});
  for (int round = 0; round < 20; ++round) {
    Program program(round, 8, true);
    for (int i = 0; i < 50; ++i) program.step();
    if (round % 2) stop_workers();
    Buffer* next = buffer_of(10);  // after this they start again
    fill(next, 1);
    program.check_all();
    wait_for(*next);
    next->release_handle();
  }
  set_up(nullptr, {2, 2});
}

}  // namespace

int main() {
  use_cpu_workers(Engine::get());
  for (const std::vector<int>& workers : {std::vector<int>{2, 2}, {1, 1}, {0, 0}})
    results_are_those_of_the_program_in_order(workers);
  an_op_is_handed_over_behind_one_that_has_not_ended();
  a_failure_is_that_of_the_op_that_failed();
  an_op_behind_a_failed_hand_over_never_reaches_the_device();
  a_dead_op_is_not_handed_over();
  a_device_without_memory_is_a_memory_error();
  workers_stop_while_the_device_works();
  wait_all();
  stop_workers();
  return 0;
}
