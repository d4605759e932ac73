// The cache of blocks and the lists of objects: their size is bounded, whatever was requested before.
// `test_caching_allocator [steps]`.
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "memory/caching_allocator.h"
#include "program.h"

using namespace forerun;
using namespace forerun::test;

namespace {

constexpr size_t kMiB = size_t{1} << 20;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kResident = false;  // the sanitizer keeps freed memory
constexpr int kSteps = 20'000;
#else
constexpr bool kResident = true;
constexpr int kSteps = 150'000;
#endif

size_t resident() {
  long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  check(file && std::fscanf(file, "%*d %ld", &pages) == 1, "the resident size can be read");
  std::fclose(file);
  return static_cast<size_t>(pages) * static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
}

CachingAllocator& cache() { return CachingAllocator::get(); }

// Blocks of mixed sizes: as many bytes as fit are held, random ones are given back. Each has its own mark while it is
// held.
class Holder {
 public:
  Holder(uint32_t seed, size_t most) : random_(seed), most_(most) {}
  ~Holder() { drop(0); }
  // Sizes are spread evenly by their logarithm.
  void step(size_t least, size_t largest) {
    double spread = std::log(static_cast<double>(largest) / static_cast<double>(least));
    auto bytes = static_cast<size_t>(static_cast<double>(least) * std::exp(spread * (random_() % 10'000) / 10'000.0));
    drop(most_ - std::min(most_, bytes));
    char* data = cache().take(bytes);
    check(data, "there is memory");
    check(reinterpret_cast<uintptr_t>(data) % 64 == 0, "a block starts on a cache line");
    uint64_t mark = random_();
    for (size_t at = 0; at + 8 < bytes; at += 4096) std::memcpy(data + at, &mark, 8);
    held_.push_back({data, bytes, mark});
    bytes_ += bytes;
  }
  void drop(size_t keep) {
    while (bytes_ > keep) {
      std::swap(held_[random_() % held_.size()], held_.back());
      Held& one = held_.back();
      for (size_t at = 0; at + 8 < one.bytes; at += 4096)
        check(std::memcmp(one.data + at, &one.mark, 8) == 0, "no other thread has written a block that is held");
      bytes_ -= one.bytes;
      cache().give(one.data, one.bytes);
      held_.pop_back();
    }
  }

 private:
  struct Held {
    char* data;
    size_t bytes;
    uint64_t mark;
  };
  std::mt19937 random_;
  size_t most_, bytes_ = 0;
  std::vector<Held> held_;
};

void cached_blocks_stay_within_limits_under_changing_load(int steps) {
  constexpr size_t kHeld = 16 * kMiB, kCached = 48 * kMiB, kTotal = 96 * kMiB;
  constexpr int kThreads = 3;
  cache().trim();
  cache().set_limits(kCached, kTotal);
  size_t before = resident();
  struct Phase {
    size_t least, largest;
  };
  const Phase kPhases[] = {{64, 8 * kMiB},        {64, 4096}, {300'000, 3 * kMiB}, {100, 900'000},
                           {2 * kMiB, 12 * kMiB}, {64, 200}};
  constexpr int kDays = 4;
  for (int phase = 0; phase < kDays * 6; ++phase) {
    const Phase& now = kPhases[phase % 6];
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([=] {
        Holder holder(static_cast<uint32_t>(phase * kThreads + t), kHeld);
        auto slow = static_cast<int>(1 + now.largest / (kMiB / 4));  // pages are expensive
        for (int i = 0; i < steps / (kDays * 6) / slow; ++i) holder.step(now.least, now.largest);
        check(cache().cached() <= kCached, "the cache stays below its limit");
      });
    for (std::thread& thread : threads) thread.join();
    check(cache().in_use() == 0, "all blocks came back");
    // Pages of blocks below a mebibyte are shared with used blocks; half of the additional memory is tolerated.
    if (kResident && !emulated())  // else the memory of the emulator would count
      check(emulated || resident() - std::min(before, resident()) <= kTotal + kTotal / 2,
            "pages stay near the size of the cache, got " + std::to_string((resident() - before) / kMiB) + " MiB");
  }
  cache().trim();
  check(cache().cached() == 0, "nothing is left in an emptied cache");
}

void fresh_blocks_take_the_memory_of_cached_ones() {
  cache().trim();
  cache().set_limits(64 * kMiB, 96 * kMiB);
  std::vector<char*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(cache().take(8 * kMiB));
  for (char* block : blocks) cache().give(block, 8 * kMiB);
  check(cache().cached() == 64 * kMiB, "all is cached");
  char* large = cache().take(64 * kMiB);
  check(cache().cached() <= 32 * kMiB && cache().in_use() == 64 * kMiB, "cached blocks are released");
  char* more = cache().take(64 * kMiB);
  check(more && cache().cached() == 0, "but no block is refused");
  cache().give(large, 64 * kMiB), cache().give(more, 64 * kMiB);
  check(cache().cached() <= 64 * kMiB, "one of them is kept");
  cache().set_limits(8 * kMiB, 96 * kMiB);
  check(cache().cached() <= 8 * kMiB, "a lower limit holds at once");
  cache().trim();
}

void unrequested_sizes_are_freed_first() {
  cache().trim();
  cache().set_limits(32 * kMiB, SIZE_MAX);
  std::vector<char*> old;
  for (int i = 0; i < 4; ++i) old.push_back(cache().take(8 * kMiB));
  for (char* block : old) cache().give(block, 8 * kMiB);
  check(cache().cached() == 32 * kMiB, "full of the old size");
  char* block = cache().take(3 * kMiB);
  cache().give(block, 3 * kMiB);
  check(cache().take(3 * kMiB) == block, "a block of the new size is kept");
  cache().give(block, 3 * kMiB);
  check(cache().cached() == 24 * kMiB + 3 * kMiB, "in place of one of the old size");
  cache().trim();
}

struct Counted {
  Counted* next_free = nullptr;
  char bytes[1000];
  static inline std::atomic<int> alive{0};
  Counted() { ++alive; }
  ~Counted() { --alive; }
};
Counted* make() {
  using List = FreeList<Counted>;
  Counted* one = List::take();
  return one ? one : List::made(new Counted);
}

void a_list_keeps_no_more_than_a_loop_needs() {
  using List = FreeList<Counted>;
  constexpr int kBurst = 50'000, kKeep = static_cast<int>(List::kKeep);
  static_assert(kBurst > 2 * kKeep);
  std::vector<Counted*> burst;
  for (int i = 0; i < kBurst; ++i) burst.push_back(make());
  check(List::in_use() == kBurst, "all are in use");
  std::thread other([&] {
    for (Counted* one : burst) List::give(one);
  });
  other.join();
  check(List::in_use() == 0, "none is in use, whichever thread gave them back");
  check(Counted::alive == kKeep, "a part is kept, got " + std::to_string(Counted::alive));
  Counted* again = make();
  check(List::in_use() == 1 && Counted::alive == kKeep, "and used again");
  check(List::trim() == size_t{kKeep - 1} * sizeof(Counted) && Counted::alive == 1, "the rest can be given back, too");
  List::give(again);
}

// Other threads get the objects that a thread does not need, even if that thread lives on, and need not make new ones.
// Otherwise each of very many threads would keep some.
void a_thread_holds_no_more_than_it_needs() {
  using List = FreeList<Counted>;
  constexpr int kThere = 1000, kOthers = 500;
  std::vector<Counted*> there;
  for (int i = 0; i < kThere; ++i) there.push_back(make());
  std::thread([&] {
    for (Counted* one : there) List::give(one);
  }).join();
  int alive = Counted::alive;
  std::vector<Counted*> taken;
  std::thread([&] {
    Counted* mine = make();
    for (int i = 0; i < kOthers; ++i) std::thread([&] { taken.push_back(make()); }).join();
    List::give(mine);
  }).join();
  check(Counted::alive == alive, "nothing new was made, got " + std::to_string(Counted::alive - alive));
  for (Counted* one : taken) List::give(one);
  List::trim();
}

void counts_of_threads_that_are_gone_stay() {
  using List = FreeList<Counted>;
  int64_t before = List::in_use();
  std::vector<Counted*> taken;
  for (int round = 0; round < 200; ++round) std::thread([&] { taken.push_back(make()); }).join();
  check(List::in_use() == before + 200, "objects of a thread that has ended are in use");
  for (Counted* one : taken) List::give(one);
}

}  // namespace

int main(int argc, char** argv) {
  fresh_blocks_take_the_memory_of_cached_ones();
  unrequested_sizes_are_freed_first();
  a_list_keeps_no_more_than_a_loop_needs();
  a_thread_holds_no_more_than_it_needs();
  counts_of_threads_that_are_gone_stay();
  cached_blocks_stay_within_limits_under_changing_load(argc > 1 ? std::atoi(argv[1]) : kSteps);
  return 0;
}
