// Random programs for the engine, and the same programs executed in order: values and failures must be equal.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "engine/engine.h"
#include "memory/buffer.h"

namespace forerun::test {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;  // everything takes about ten times as long
#else
constexpr bool kSanitized = false;
#endif
// Whether another processor is emulated: that takes as long, and the emulator cannot fork a process with threads.
inline bool emulated() { return std::getenv("CORE_TESTS_EMULATED") != nullptr; }

inline void check(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "failed: %s\n", what.c_str());
  std::exit(1);
}

// Whether this thread is outside the engine, in code of the test itself.
inline thread_local bool outside = false;
struct InEngine {
  const bool before = std::exchange(outside, false);
  ~InEngine() { outside = before; }
};

// The wait of a front end: in slices, like a wait that answers signals.
inline void wait_for(Storage& storage) {
  InEngine entered;
  while (!Engine::get().waiter.wait(storage, std::chrono::milliseconds(50))) {
  }
}
inline void stop_workers() {
  while (!Engine::get().stop_workers(std::chrono::milliseconds(50))) {
  }
}

inline void wait_all() {
  InEngine entered;
  Engine& engine = Engine::get();
  uint64_t mark = engine.ring.next();
  while (!engine.waiter.wait_mark(mark, std::chrono::milliseconds(50))) {
  }
}

// out[i] = 3 * out[i] + a[i] + 7 * b[i % |b|] + c, or without the first term. With `throws`, it throws in its last
// tile.
struct Mix final : Kernel {
  int64_t parts;
  uint64_t c;
  bool update, throws;
  Mix(int64_t parts, uint64_t c, bool update, bool throws) : parts(parts), c(c), update(update), throws(throws) {}
  const char* name() const override { return "mix"; }
  bool droppable() const override { return !throws; }
  int64_t tiles() const override { return parts; }
  void run(Op& op, int64_t tile) override {
    if (throws && tile == parts - 1) throw Error(ErrorKind::value, "mix: told to fail, got " + std::to_string(c));
    auto at = [&](int i) { return reinterpret_cast<uint64_t*>(static_cast<Buffer*>(op.access(i).storage)->data()); };
    size_t n = op.access(0).storage->bytes / 8, nb = op.access(2).storage->bytes / 8,
           na = op.access(1).storage->bytes / 8;
    uint64_t *out = at(0), *a = at(1), *b = at(2);
    for (size_t i = n * tile / parts, end = n * (tile + 1) / parts; i < end; ++i)
      out[i] = (update ? 3 * out[i] : 0) + a[i % na] + 7 * b[i % nb] + c;
  }
};

struct Fill final : Kernel {
  uint64_t value;
  explicit Fill(uint64_t value) : value(value) {}
  const char* name() const override { return "fill"; }
  bool droppable() const override { return true; }
  void run(Op& op, int64_t) override {
    auto* out = reinterpret_cast<uint64_t*>(static_cast<Buffer*>(op.access(0).storage)->data());
    for (size_t i = 0, n = op.access(0).storage->bytes / 8; i < n; ++i) out[i] = value + i;
  }
};

// The values of a storage after its last issued write, if all ops had run in program order; empty `failure`: no
// failure.
struct Expected {
  std::vector<uint64_t> values;
  std::string failure;
  uint64_t failed = 0;  // the number of the failure in its program
};

// One front-end thread's program over arrays of its own. It issues and executes in order at the same time.
class Program {
 public:
  Program(uint32_t seed, int arrays, bool failures) : random_(seed), failures_(failures), arrays_(arrays) {
    for (size_t i = 0; i < arrays_.size(); ++i) renew(i);
  }
  ~Program() {
    for (Slot& slot : arrays_) slot.buffer->release_handle();
  }

  void step() {
    size_t out = pick(), a = pick(), b = pick();
    switch (random_() % 16) {
      case 0: return renew(out);
      case 1: return check_one(out);
      case 3: return look(out);
      case 2: return renew(out), mix(out, a, b, true, false), renew(out);  // a result that is never read
      default: return mix(out, a, b, random_() % 2, failures_ && random_() % 64 == 0);
    }
  }

  // Checks the pending operations that an array needs: they are in order, and each but the last is needed by a later
  // one.
  void look(size_t i) {
    auto found = Engine::get().introspection.needed({arrays_[i].buffer}, 50);
    std::vector<uint64_t> read;
    for (size_t k = found.size(); k-- > 0;) {
      check(k + 1 == found.size() || std::count(read.begin(), read.end(), found[k].seq),
            "an op is needed by a later one");
      for (uint64_t seq : found[k].reads)
        check(seq < found[k].seq, "the inputs of an op were issued before it"), read.push_back(seq);
    }
    check(found.size() <= 50, "no more than asked for");
  }

  void check_one(size_t i) {
    Slot& slot = arrays_[i];
    wait_for(*slot.buffer);
    const FailurePtr& failure = slot.buffer->failure;
    check((failure ? failure->message : "") == slot.expected.failure,
          "failure: got '" + (failure ? failure->message : "") + "' instead of '" + slot.expected.failure + "'");
    if (failure) return;
    auto* data = reinterpret_cast<uint64_t*>(slot.buffer->data());
    for (size_t k = 0; k < slot.expected.values.size(); ++k)
      check(data[k] == slot.expected.values[k], "values of array " + std::to_string(i) + " at " + std::to_string(k));
  }
  void check_all() {
    for (size_t i = 0; i < arrays_.size(); ++i) check_one(i);
  }

 private:
  struct Slot {
    Buffer* buffer = nullptr;
    Expected expected;
  };

  size_t pick() { return random_() % arrays_.size(); }

  Op* make(int device, bool copy) {
    Engine& engine = Engine::get();
    while (engine.ring.full()) engine.waiter.make_room(std::chrono::milliseconds(50));
    Op* op = engine.make_op();
    Device& d = engine.devices[device];
    op->queue = copy ? d.copy.get() : d.compute.get();
    op->budget = d.budget.get();
    op->cost = random_() % 4 ? 100 : 50'000;
    op->urgent = random_() % 8 == 0;
    return op;
  }

  // Replaces an array by a new one; the last handle of the old one is released.
  void renew(size_t i) {
    Slot& slot = arrays_[i];
    if (slot.buffer) slot.buffer->release_handle();
    static constexpr size_t kSizes[] = {1, 3, 8, 9, 100, 4096, 30000};
    size_t n = kSizes[random_() % 7];
    int device = random_() % Engine::get().devices.size();
    uint64_t value = random_();
    slot.buffer = Buffer::make(n * 8, Engine::get().devices[device].budget.get());
    slot.buffer->retain_handle();
    slot.expected = {std::vector<uint64_t>(n), "", 0};
    for (size_t k = 0; k < n; ++k) slot.expected.values[k] = value + k;
    Op* op = make(device, false);
    op->emplace<Fill>(value);
    op->add(slot.buffer, Mode::write);
    Engine::get().issue(op);
  }

  void mix(size_t out, size_t a, size_t b, bool update, bool throws) {
    if (!update && (out == a || out == b)) return;
    Slot &so = arrays_[out], &sa = arrays_[a], &sb = arrays_[b];
    uint64_t c = random_();
    // A part may read only those elements of another part's output that it writes itself.
    bool alone = out == a || out == b;
    int64_t parts = alone ? 1 : 1 + random_() % 5;
    Op* op = make(so.buffer->budget->device, random_() % 4 == 0);
    op->emplace<Mix>(parts, c, update, throws);
    op->add(so.buffer, update ? Mode::update : Mode::write);
    op->add(sa.buffer, Mode::read);
    op->add(sb.buffer, Mode::read);
    Engine::get().issue(op);
    execute(so.expected, sa.expected, sb.expected, c, update, throws);
  }

  void execute(Expected& out, const Expected& a, const Expected& b, uint64_t c, bool update, bool throws) {
    Expected bad;
    for (const Expected* x : {update ? &out : &a, &a, &b})
      if (!x->failure.empty() && (bad.failure.empty() || x->failed < bad.failed))
        bad.failure = x->failure, bad.failed = x->failed;
    if (bad.failure.empty() && throws)
      bad.failure = "mix: told to fail, got " + std::to_string(c), bad.failed = ++failed_;
    out.failure = bad.failure, out.failed = bad.failed;
    if (!out.failure.empty()) return;
    for (size_t i = 0; i < out.values.size(); ++i)
      out.values[i] =
          (update ? 3 * out.values[i] : 0) + a.values[i % a.values.size()] + 7 * b.values[i % b.values.size()] + c;
  }

  std::mt19937 random_;
  uint64_t failed_ = 0;  // the number of failed steps
  bool failures_;
  std::vector<Slot> arrays_;
};

}  // namespace forerun::test
