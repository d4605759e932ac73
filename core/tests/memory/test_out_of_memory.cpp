// Failing allocations: each allocation of the engine is refused once, then many of them at random. Valid arrays have
// the right values, failed ones report the reason, nothing hangs, and all memory is returned.
#include <sys/mman.h>

#include "base/containers/free_list.h"
#include "calculation.h"
#include "cpu/threads.h"
#include "memory/caching_allocator.h"
#include "refuse.h"

bool refusal::exempt() { return forerun::test::outside; }

using namespace forerun;
using namespace forerun::test;

namespace {

// Empties the caches, so that the engine must allocate again.
void drop_cached_blocks() {
  wait_all();
  stop_workers();
  FreeList<Op>::trim(), FreeList<Buffer>::trim(), FreeList<KernelRoom>::trim();
  CachingAllocator::get().trim();
}

void forget_failures() {
  for (const FailurePtr& failure : Engine::get().failures.take_unseen().failures)
    check(failure->kind == ErrorKind::memory || failure->kind == ErrorKind::value,
          "an error for want of memory says so, got " + failure->message);
}

// Some steps are held back until all of them are issued, so that they become groups. The n-th allocation is refused,
// then one more after each `period` allocations; negative: none.
void calculate(uint32_t seed, int64_t n, int64_t period) {
  bool refusing = n >= 0;
  Calculation calculation(seed, 40, 300);
  refusal::from(n, period);
  for (int round = 0; round < 4; ++round) {
    Engine::get().gate(round % 2 == 0);
    for (int i = 0; i < 12; ++i) try {
        calculation.step();
      } catch (const std::bad_alloc&) {
        check(refusing, "memory is there");
      }
    Engine::get().gate(false);
    calculation.check_all(!refusing);
  }
  refusal::stop();
}

void check_idle() {
  wait_all();
  forget_failures();
  MemoryBudget& budget = *Engine::get().devices[0].budget;
  check(Engine::get().ring.idle() && budget.running == 0 && budget.reserved.load() == 0,
        "nothing runs, nothing is reserved");
  check(budget.live.load() == 0, "all memory came back, but for " + std::to_string(budget.live.load()) + " bytes");
}

// Refuses the n-th allocation, for all n (each `step`-th). Returns the number of allocations.
int64_t each_once(uint32_t seed, bool traced, int64_t step) {
  for (int64_t n = 0;; n += step) {
    drop_cached_blocks();
    Calculation bystander(seed + 1, 9, 2049);
    bystander.check_all();
    if (traced) Engine::get().introspection.record_into(nullptr);
    long before = refusal::refused.load();
    calculate(seed, n, -1);
    bystander.check_all();
    if (traced) Engine::get().introspection.take_record();
    if (refusal::refused.load() == before) return n;
    for (int k = 0; k < 4; ++k) bystander.step();
    bystander.check_all();
  }
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = argc > 1 ? std::atoi(argv[1]) : kSanitized ? 4 : 20;
  int64_t step = kSanitized ? 11 : 1;
  outside = true;
  Engine& engine = Engine::get();
  use_cpu_workers(engine);
  for (int workers : {0, 1, 2}) {
    stop_workers();
    engine.configure({workers}, 2);
    engine.passes.set_fuse_from(0);
    int64_t tried = each_once(7, false, step) + each_once(8, true, step);
    check_idle();
    std::printf("%d workers: %ld requests for memory, one in %ld refused once\n", workers, static_cast<long>(tried),
                static_cast<long>(step));
    check(tried > 100, "there was something to refuse");
  }
  long before = refusal::refused.load();
  for (int round = 0; round < rounds; ++round)
    for (int64_t period : {2, 3, 7, 30, 200}) {
      drop_cached_blocks();
      calculate(static_cast<uint32_t>(100 + round), period, period);
      check_idle();
      calculate(static_cast<uint32_t>(round), -1, -1);
    }
  std::printf("%ld more refused in turn\n", refusal::refused.load() - before);
  check_idle();
  stop_workers();
  return 0;
}
