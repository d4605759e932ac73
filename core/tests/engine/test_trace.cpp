// Recordings begin and end while several threads issue: their content is complete, in order, and of the right interval.
#include <cstring>
#include <thread>

#include "cpu/threads.h"
#include "program.h"

using namespace forerun;
using namespace forerun::test;

namespace {

struct Found {
  const Head* head;
  const OpRecord* ops;
  size_t n;
};

Found parts(const std::string& all) {
  check(all.size() >= kHead, "there is a head");
  auto* head = reinterpret_cast<const Head*>(all.data());
  check(head->magic == Head::kMagic && head->ended == 1, "it is a recording in one piece");
  size_t n = head->n_blocks * kBlockOps, at = all.size() - n * sizeof(OpRecord);
  return {head, reinterpret_cast<const OpRecord*>(all.data() + at), n};
}

bool counts(const Found& found, size_t i) {
  uint64_t seq = found.ops[i].seq, owner = found.head->blocks[i / kBlockOps];
  return seq >= found.head->first && (seq >> kBlockShift) + 1 == owner;
}

// `quiet`: no op was issued or run meanwhile.
size_t look_at(const std::string& all, bool quiet = false) {
  Found found = parts(all);
  size_t recorded = 0;
  for (size_t i = 0; i < found.n; ++i) {
    const OpRecord& op = found.ops[i];
    if (!counts(found, i)) continue;
    ++recorded;
    check((op.seq & (kBlockOps - 1)) == i % kBlockOps, "it is in its place");
    check(op.issued > 0 && op.issued >= found.head->ticks, "it was issued within the recording");
    check(!quiet || (op.seq < found.head->next && op.ended > 0), "it has ended");
    if (!quiet || (op.flags & OpRecord::dropped) != 0 || (op.flags & OpRecord::failed) != 0) continue;
    check(op.planned > 0 && op.started > 0 && op.name != 0, "an op that has ended was planned and started");
    for (int d = 0; d < op.n_deps; ++d)
      check(op.deps[d] > 0 && op.deps[d] < op.seq, "its dependencies were issued before it");
  }
  return recorded;
}

void while_others_issue(int threads, int steps) {
  std::atomic<bool> over{false};
  std::vector<std::thread> front;
  for (int t = 0; t < threads; ++t)
    front.emplace_back([&, t] {
      for (uint32_t seed = 0; !over.load(); ++seed) {
        Program program(seed * 10 + static_cast<uint32_t>(t), 24, true);
        for (int i = 0; i < steps; ++i) program.step();
        program.check_all();
      }
    });
  Engine& engine = Engine::get();
  size_t recorded = 0;
  for (int round = 0; round < 8 || recorded == 0; ++round) {
    check(engine.introspection.record_into(nullptr) == 0, "a recording begins");
    for (int i = 0; i < 200; ++i) std::this_thread::yield();
    look_at(engine.trace.so_far(engine.ring.next()));
    recorded += look_at(engine.introspection.take_record());
  }
  over = true;
  for (std::thread& thread : front) thread.join();
  wait_all();
}

struct Nothing final : Kernel {
  const char* name() const override { return "nothing"; }
  void run(Op&, int64_t) override {}
};

void update(Buffer& buffer) {
  Engine& engine = Engine::get();
  while (engine.ring.full()) engine.waiter.make_room(std::chrono::milliseconds(50));
  Op* op = engine.make_op();
  Device& d = engine.devices[0];
  op->queue = d.compute.get(), op->budget = d.budget.get(), op->cost = 100;
  op->emplace<Nothing>();
  op->add(&buffer, Mode::update);
  engine.issue(op);
}

// More ops than a recording holds: all of the run is represented, evenly.
void long_run() {
  Engine& engine = Engine::get();
  engine.trace.set_apart(0);
  check(engine.introspection.record_into(nullptr) == 0, "a recording begins");
  uint64_t first = engine.ring.next();
  Buffer* buffer = Buffer::make(64, engine.devices[0].budget.get());
  buffer->retain_handle();
  while (engine.ring.next() - first < kBlocks * kBlockOps * 3 / 2) update(*buffer);
  wait_all();
  buffer->release_handle();
  std::string all = engine.introspection.take_record();
  Found found = parts(all);
  size_t recorded = look_at(all, true), early = 0;
  for (size_t i = 0; i < found.n; ++i)
    early += counts(found, i) && found.ops[i].seq - first < (found.head->next - first) / 2;
  check(recorded > 0 && recorded <= kBlocks * kBlockOps, "no more than there is room for");
  check(found.head->level == 1, "one block of two was recorded");
  check(recorded / 4 < early && early < recorded - recorded / 4,
        "as much of the first half as of the second, or nearly");
}

}  // namespace

int main(int argc, char** argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : 100;
  Engine& engine = Engine::get();
  use_cpu_workers(engine);
  engine.configure({2, 2}, 3);
  while_others_issue(3, steps);
  long_run();
  stop_workers();
  return 0;
}
