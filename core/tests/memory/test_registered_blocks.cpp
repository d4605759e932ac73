// The blocks of the allocator that are registered with devices, and for how long.
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "base/system/fork.h"
#include "cpu/kernels/copy/zeros.h"
#include "memory/caching_allocator.h"
#include "program.h"

using namespace forerun;
using namespace forerun::test;

namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr auto kLong = std::chrono::seconds(20);

CachingAllocator& cache() { return CachingAllocator::get(); }
RegisteredBlocks& blocks() { return RegisteredBlocks::get(); }

// How many of these pages are in memory; 0 if some are not mapped.
size_t pages_of(void* data, size_t bytes) {
  std::vector<unsigned char> pages(bytes / 4096);
  if (mincore(data, bytes, pages.data()) != 0) return 0;
  return static_cast<size_t>(std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return page & 1; }));
}

// Records the ranges, as a plugin does.
class Devices final : public MemoryRegistrar {
 public:
  ~Devices() {
    blocks().remove_all_of(*this);
    check(ranges_.empty() || keeps, "nothing stays registered");
  }
  bool register_memory(void* data, size_t bytes) const override {
    ++calls;
    if (meanwhile) meanwhile();
    if (refuses) return false;
    std::memset(data, 1, bytes);
    std::lock_guard held(mutex_);
    check(ranges_.emplace(data, bytes).second, "memory is registered once at a time");
    return true;
  }
  bool unregister_memory(void* data) const override {
    if (keeps) return false;
    check(getpid() == process_, "the child of a fork leaves registrations to its parent");
    if (meanwhile) meanwhile();
    std::lock_guard held(mutex_);
    const auto range = ranges_.find(data);
    check(range != ranges_.end(), "an unregistered block was registered");
    check(pages_of(data, range->second) == range->second / 4096, "the pages are there to the end");
    ranges_.erase(range);
    ++ended;
    return true;
  }
  size_t registered() const {
    std::lock_guard held(mutex_);
    return ranges_.size();
  }
  mutable std::atomic<int> calls{0}, ended{0};
  bool refuses = false, keeps = false;
  std::function<void()> meanwhile;  // called in each call of a device

 private:
  const pid_t process_ = getpid();
  mutable std::mutex mutex_;
  mutable std::map<void*, size_t> ranges_;
};

// Registers a block as a copy does, and gives it back.
void copy_once(size_t bytes, const Devices& devices) {
  char* data = cache().take(bytes);
  cache().register_block(data, bytes, devices);
  cache().give(data, bytes);
}

void a_block_is_registered_at_its_first_copy_and_stays_so() {
  Devices devices;
  copy_once(4 * kMiB - 1000, devices);  // of the same class
  for (int i = 0; i < 5; ++i) copy_once(4 * kMiB, devices);
  check(devices.calls == 1 && devices.ended == 0, "the second copy uses the registration of the first one");
  check(blocks().bytes() == 4 * kMiB, "all of the block is registered, whatever was asked for");
  char* data = cache().take(4 * kMiB);
  check(blocks().holds(data) && blocks().holds(data + 4 * kMiB - 1), "it knows the block");
  check(!blocks().holds(data - 1) && !blocks().holds(data + 4 * kMiB), "and where it ends");
  cache().trim();
  check(devices.ended == 0, "a block in use stays registered when the cache is emptied");
  cache().give(data, 4 * kMiB);
  cache().trim();
  check(devices.ended == 1 && blocks().bytes() == 0, "a block that goes is unregistered");
  copy_once(4 * kMiB, devices);
  check(devices.calls == 2, "a new one is registered anew");
  cache().trim();
}

void small_blocks_are_not_registered() {
  Devices devices;
  copy_once(kMiB / 2, devices);
  check(devices.calls == 0, "of half a mebibyte");
  copy_once(kMiB, devices);
  check(devices.calls == 1, "but of one");
  cache().trim();
}

void no_more_than_the_limit_is_registered() {
  Devices devices;
  blocks().set_limit(5 * kMiB);
  std::vector<char*> taken;
  for (int i = 0; i < 4; ++i) {
    taken.push_back(cache().take(2 * kMiB));
    cache().register_block(taken.back(), 2 * kMiB, devices);
  }
  check(devices.calls == 2 && blocks().bytes() == 4 * kMiB, "the third would exceed the limit");
  cache().give(taken[0], 2 * kMiB);
  cache().trim();
  cache().register_block(taken[2], 2 * kMiB, devices);
  check(devices.calls == 3 && blocks().bytes() == 4 * kMiB, "a block that has gone makes room");
  for (int i = 1; i < 4; ++i) cache().give(taken[static_cast<size_t>(i)], 2 * kMiB);
  cache().trim();
  check(blocks().bytes() == 0, "all are gone");
  blocks().set_limit(SIZE_MAX / 2);
}

void refused_blocks_are_not_registered() {
  Devices devices;
  devices.refuses = true;
  copy_once(2 * kMiB, devices);
  check(devices.calls == 1 && blocks().bytes() == 0, "nothing is registered");
  cache().trim();
  check(devices.ended == 0, "and nothing unregistered");
}

void pages_stay_that_a_device_does_not_forget() {
  const size_t before = blocks().bytes();
  Devices devices;
  devices.keeps = true;
  char* data = cache().take(3 * kMiB);
  std::memset(data, 1, 3 * kMiB);
  cache().register_block(data, 3 * kMiB, devices);
  cache().give(data, 3 * kMiB);
  cache().trim();
  check(pages_of(data, 3 * kMiB) == 3 * kMiB / 4096, "the pages are still mapped");
  check(blocks().holds(data) && blocks().bytes() == before + 3 * kMiB, "and still locked");
  char* other = cache().take(3 * kMiB);
  check(other != data, "no other block gets them");
  cache().give(other, 3 * kMiB);
  cache().trim();
}

void zeros_keep_the_pages_of_a_registered_block() {
  Devices devices;
  char* data = cache().take(2 * kMiB);
  cache().register_block(data, 2 * kMiB, devices);
  write_zeros(data, 2 * kMiB);
  check(pages_of(data, 2 * kMiB) == 2 * kMiB / 4096, "the device's pages are the block's");
  check(std::all_of(data, data + 2 * kMiB, [](char c) { return c == 0; }), "they are zeros");
  cache().give(data, 2 * kMiB);
  cache().trim();
}

void a_block_is_registered_with_one_registrar() {
  Devices first, second;
  char* data = cache().take(2 * kMiB);
  cache().register_block(data, 2 * kMiB, first);
  cache().register_block(data, 2 * kMiB, second);
  check(first.calls == 1 && second.calls == 0, "with the first one");
  blocks().remove_all_of(second);
  check(first.registered() == 1, "which keeps it when the other goes");
  blocks().remove_all_of(first);
  check(first.registered() == 0 && !blocks().holds(data), "but not when it goes itself");
  cache().register_block(data, 2 * kMiB, second);
  check(second.calls == 1, "then it is the other's turn");
  cache().give(data, 2 * kMiB);
  cache().trim();
}

void expect_soon(std::future<void>& future, const char* what) {
  check(future.wait_for(kLong) == std::future_status::ready, what);
}

// In each of its calls, a plugin may wait for threads of its own, which give blocks back and copy others.
void no_lock_is_held_while_devices_are_called() {
  Devices devices, others;
  char *data = cache().take(2 * kMiB), *gone = cache().take(3 * kMiB);
  cache().register_block(gone, 3 * kMiB, others);
  cache().give(gone, 3 * kMiB);
  devices.meanwhile = [&] {
    auto other = std::async(std::launch::async, [&] {
      cache().trim();
      cache().register_block(data, 2 * kMiB, others);
      copy_once(5 * kMiB, others);
    });
    expect_soon(other, "other threads go on during a call");
  };
  cache().register_block(data, 2 * kMiB, devices);
  check(others.ended == 1 && others.calls == 2, "a block went, another was registered");
  check(devices.registered() == 1, "the same one is not registered twice");
  blocks().remove_all_of(devices);
  cache().give(data, 2 * kMiB);
  devices.meanwhile = nullptr;
  cache().trim();
}

void a_registrar_waits_for_the_thread_that_unregisters() {
  Devices devices;
  copy_once(2 * kMiB, devices);
  std::promise<void> begun, may_end;
  devices.meanwhile = [&, once = false]() mutable {
    if (std::exchange(once, true)) return;
    begun.set_value();
    may_end.get_future().wait();
  };
  std::thread other([] { cache().trim(); });
  begun.get_future().wait();
  auto closed = std::async(std::launch::async, [&] { blocks().remove_all_of(devices); });
  check(closed.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout, "it is not gone meanwhile");
  may_end.set_value();
  expect_soon(closed, "it goes afterwards");
  other.join();
  check(devices.ended == 1, "the block was unregistered once");
}

void the_child_of_a_fork_leaves_registrations_to_its_parent() {
  Devices devices;
  copy_once(2 * kMiB, devices);
  char* data = cache().take(3 * kMiB);
  std::promise<void> begun, may_end;
  devices.meanwhile = [&] { begun.set_value(), may_end.get_future().wait(); };
  std::thread other([&] { cache().register_block(data, 3 * kMiB, devices); });
  begun.get_future().wait();
  cache().before_fork();
  const pid_t child = fork();
  cache().after_fork(child == 0);
  if (child == 0) {
    alarm(60);
    cache().give(data, 3 * kMiB);  // which no thread of the child will register
    cache().trim();
    _exit(blocks().bytes() == 0 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  check(status == 0, "the child gives its copies of the blocks back");
  may_end.set_value();
  other.join();
  devices.meanwhile = nullptr;
  check(devices.registered() == 2, "the parent's are still registered");
  cache().give(data, 3 * kMiB);
  cache().trim();
  check(devices.ended == 2, "until they go");
}

void kernels_before_5_12_move_pages_at_a_fork() {
  for (const char* release : {"4.18.0-553.el8_10.x86_64", "5.4.0-216-generic", "5.11.22", "unknown"})
    check(!fork_keeps_registered_pages(release), release);
  for (const char* release : {"5.12.0", "5.14.0-503.el9.x86_64", "5.15.0-139-generic", "6.1.0", "10.0"})
    check(fork_keeps_registered_pages(release), release);
}

void many_threads_copy_and_give_back() {
  Devices devices, others;
  constexpr int kThreads = 3, kRounds = kSanitized ? 300 : 3000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<uint32_t>(t));
      for (int i = 0; i < kRounds; ++i) {
        const size_t bytes = (1 + random() % 3) * kMiB;
        char* data = cache().take(bytes);
        std::thread second;  // copies the same block
        if (i % 16 == 0) second = std::thread([&] { cache().register_block(data, bytes, others); });
        cache().register_block(data, bytes, devices);
        if (second.joinable()) second.join();
        if (random() % 4 == 0) write_zeros(data, bytes);
        cache().give(data, bytes);
        if (random() % 8 == 0) cache().trim(random() % 2 * 2 * kMiB);
        if (random() % 64 == 0) blocks().remove_all_of(t % 2 ? devices : others);
      }
    });
  for (std::thread& thread : threads) thread.join();
  cache().trim();
  check(blocks().bytes() == 0, "all is gone in the end");
}

}  // namespace

int main() {
  copy_once(2 * kMiB, Devices());  // the limit is initially zero
  check(blocks().bytes() == 0, "nothing is registered before a limit is set");
  cache().trim();
  blocks().set_limit(SIZE_MAX / 2);
  kernels_before_5_12_move_pages_at_a_fork();
  utsname system{};
  uname(&system);
  if (!fork_keeps_registered_pages(system.release)) return 0;
  a_block_is_registered_at_its_first_copy_and_stays_so();
  small_blocks_are_not_registered();
  no_more_than_the_limit_is_registered();
  refused_blocks_are_not_registered();
  zeros_keep_the_pages_of_a_registered_block();
  a_block_is_registered_with_one_registrar();
  no_lock_is_held_while_devices_are_called();
  a_registrar_waits_for_the_thread_that_unregisters();
  the_child_of_a_fork_leaves_registrations_to_its_parent();
  many_threads_copy_and_give_back();
  pages_stay_that_a_device_does_not_forget();
  return 0;
}
