// The engine without Python: random programs of several issuing threads against the same programs run in order. Meant for
// ThreadSanitizer and AddressSanitizer; `stress [rounds] [seed]`. Exit status 1 and a line for what went wrong.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "cpu/workers.h"
#include "engine/engine.h"
#include "memory/buffer.h"
#include "memory/cache.h"

using namespace forerun;

namespace {

constexpr auto kSlice = std::chrono::milliseconds(100);

#define CHECK(condition)                                                          \
  do {                                                                            \
    if (!(condition)) {                                                           \
      std::fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                               \
    }                                                                             \
  } while (0)

// out[i] = 3 * out[i] + in[i] + c over tiles, or a failure.
class MixKernel final : public Kernel {
 public:
  MixKernel(uint64_t c, int64_t tiles, bool fails) : c_(c), tiles_(tiles), fails_(fails) {}
  const char* name() const override { return "mix"; }
  int64_t tiles() const override { return tiles_; }
  void run(Op& op, int64_t tile) override {
    if (fails_) throw Error(ErrorKind::value, "mix: asked to fail");
    auto* out = reinterpret_cast<uint64_t*>(static_cast<Buffer*>(op.access(0).storage)->data());
    auto* in = reinterpret_cast<uint64_t*>(static_cast<Buffer*>(op.access(1).storage)->data());
    size_t n = op.access(0).storage->bytes / 8, from = n * tile / tiles_, to = n * (tile + 1) / tiles_;
    bool fresh = op.access(0).mode == Mode::write;
    for (size_t i = from; i < to; ++i) out[i] = (fresh ? 0 : 3 * out[i]) + in[i] + c_;
  }

 private:
  uint64_t c_;
  int64_t tiles_;
  bool fails_;
};

struct Handle {
  Buffer* buffer;
  explicit Handle(size_t n) : buffer(Buffer::make(n * 8, Engine::get().device(0).budget.get())) {
    buffer->retain_handle();
    CHECK(buffer->take());
    std::memset(buffer->data(), 0, n * 8);
  }
  Handle(const Handle&) = delete;
  Handle(Handle&& o) noexcept : buffer(std::exchange(o.buffer, nullptr)) {}
  ~Handle() {
    if (buffer) buffer->release_handle();
  }
};

void issue(Buffer* out, Buffer* in, Mode mode, uint64_t c, int64_t tiles, bool fails, int device) {
  Engine& engine = Engine::get();
  while (engine.must_wait()) engine.make_room(kSlice);
  Op* op = engine.make_op();
  op->queue = engine.device(device).compute.get();
  op->budget = out->budget;
  op->cost = static_cast<uint32_t>(out->bytes);
  op->add(out, mode);
  op->add(in, Mode::read);
  op->emplace<MixKernel>(c, tiles, fails);
  engine.issue(op);
}

void wait_all() {
  Engine& engine = Engine::get();
  uint64_t mark = engine.mark();
  while (!engine.wait_mark(mark, kSlice)) {
  }
}

// One thread's program: `steps` random ops on its own arrays and, reading only, on shared ones; then the same in order.
void program(uint64_t seed, int steps, const std::vector<Handle>& shared) {
  std::mt19937_64 random(seed);
  constexpr int kArrays = 8;
  std::vector<Handle> arrays;
  std::vector<std::vector<uint64_t>> expected;
  std::vector<bool> poisoned(kArrays, false);
  const size_t sizes[kArrays] = {1, 2, 8, 100, 1000, 1000, 5000, 20000};
  for (size_t n : sizes) arrays.emplace_back(n), expected.emplace_back(n, 0);
  for (int s = 0; s < steps; ++s) {
    int out = static_cast<int>(random() % kArrays);
    bool read_shared = random() % 4 == 0 || out == kArrays - 1, fails = random() % 200 == 0;
    int in = out;
    while (!read_shared && (in == out || sizes[in] < sizes[out])) in = static_cast<int>(random() % kArrays);
    Mode mode = random() % 3 ? Mode::update : Mode::write;
    uint64_t c = random() % 100;
    int64_t tiles = sizes[out] >= 1000 ? 1 + static_cast<int64_t>(random() % 5) : 1;
    Buffer* source = read_shared ? shared[0].buffer : arrays[in].buffer;
    issue(arrays[out].buffer, source, mode, c, tiles, fails, static_cast<int>(random() % Engine::get().devices()));
    bool bad = fails || (!read_shared && poisoned[in]) || (mode == Mode::update && poisoned[out]);
    poisoned[out] = bad;
    if (bad) continue;
    for (size_t i = 0; i < sizes[out]; ++i)
      expected[out][i] = (mode == Mode::update ? 3 * expected[out][i] : 0) + (read_shared ? 7 : expected[in][i]) + c;
    if (random() % 64 == 0)
      while (!Engine::get().wait(*arrays[out].buffer, kSlice)) {
      }
  }
  wait_all();
  for (int a = 0; a < kArrays; ++a) {
    CHECK(arrays[a].buffer->settled());
    CHECK((arrays[a].buffer->failure != nullptr) == poisoned[a]);
    if (!poisoned[a]) CHECK(std::memcmp(arrays[a].buffer->data(), expected[a].data(), sizes[a] * 8) == 0);
  }
}

void programs(int threads, int steps, uint64_t seed) {
  std::vector<Handle> shared;
  shared.emplace_back(20000);
  for (size_t i = 0; i < 20000; ++i) reinterpret_cast<uint64_t*>(shared[0].buffer->data())[i] = 7;
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) all.emplace_back([&, t] { program(seed * 100 + t, steps, shared); });
  for (std::thread& t : all) t.join();
}

// A reader outside keeps a block: later writes must leave it alone.
void snapshots() {
  Handle a(1000), one(1000);
  for (uint64_t round = 0; round < 200; ++round) {
    wait_all();
    Block* block = a.buffer->share();
    uint64_t before = reinterpret_cast<uint64_t*>(block->data)[5];
    for (int i = 0; i < 5; ++i) issue(a.buffer, one.buffer, Mode::update, 1, 1, false, 0);
    wait_all();
    CHECK(reinterpret_cast<uint64_t*>(block->data)[5] == before);
    CHECK(reinterpret_cast<uint64_t*>(a.buffer->data())[5] != before);
    block->release();
  }
}

// Nothing runs behind a closed gate; everything after it opens.
void gate() {
  Handle a(10), one(10);
  wait_all();
  Engine::get().gate(true);
  for (int i = 0; i < 1000; ++i) issue(a.buffer, one.buffer, Mode::update, 1, 1, false, 0);
  CHECK(a.buffer->ended.load() == 0);
  Engine::get().gate(false);
  wait_all();
  CHECK(a.buffer->ended.load() == 1000);
}

void no_leak(size_t live_before) {
  wait_all();
  Engine::get().stop_workers();  // a worker gives memory back just after the op has ended
  size_t live = 0;
  for (int d = 0; d < Engine::get().devices(); ++d) live += Engine::get().device(d).budget->live.load();
  CHECK(live == live_before);
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = argc > 1 ? std::atoi(argv[1]) : 3;
  uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  Engine& engine = Engine::get();
  use_cpu_workers(engine);
  const std::vector<std::vector<int>> setups = {{0}, {1}, {2}, {4}, {1, 1}};
  for (const auto& workers : setups) {
    wait_all();
    engine.stop_workers();
    engine.configure(workers, 4);
    size_t live = engine.device(0).budget->live.load();
    engine.set_ops_ahead(workers.size() > 1 ? 64 : 1 << 14);
    for (int r = 0; r < rounds; ++r) {
      programs(1, 2000, seed + r);
      programs(3, 1000, seed + 1000 + r);
      snapshots();
      gate();
      no_leak(live);
      while (engine.take_unseen_failure()) {
      }
      if (r % 2) engine.stop_workers();
    }
    std::printf("workers");
    for (int w : workers) std::printf(" %d", w);
    std::printf(": ok\n");
  }
  wait_all();
  engine.stop_workers();
  return 0;
}
