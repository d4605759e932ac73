#include "memory/registered_blocks.h"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

#include "base/system/fork.h"

namespace forerun {

RegisteredBlocks& RegisteredBlocks::get() {
  static auto* blocks = new RegisteredBlocks;  // never destroyed: blocks may be freed at exit
  return *blocks;
}

void RegisteredBlocks::add(char* data, size_t bytes, const MemoryRegistrar& registrar) {
  Blocks::iterator at;
  {
    std::lock_guard held(mutex_);
    if (bytes_ + bytes > limit_) return;
    const auto [place, fresh] = blocks_.try_emplace(data, Registered{bytes, &registrar, true});
    if (!fresh) return;
    at = place;
    bytes_ += bytes;
  }
  const bool registered = registrar.register_memory(data, bytes);
  std::lock_guard held(mutex_);
  at->second.changing = false;
  if (registered) return;
  blocks_.erase(at);
  bytes_ -= bytes;
}

bool RegisteredBlocks::remove(char* data) {
  if (!bytes()) return true;
  std::unique_lock held(mutex_);
  for (auto at = blocks_.find(data); at != blocks_.end(); at = blocks_.find(data))
    if (!remove(at, held)) return false;
  return true;
}

void RegisteredBlocks::remove_all_of(const MemoryRegistrar& client) {
  std::unique_lock held(mutex_);
  const auto next = [&] {
    return std::ranges::find_if(blocks_, [&](const auto& block) { return block.second.registrar == &client; });
  };
  for (auto at = next(); at != blocks_.end(); at = next()) remove(at, held);
}

// Unregisters the block, or yields to the thread that is doing so. Returns whether the pages may be released.
bool RegisteredBlocks::remove(Blocks::iterator at, std::unique_lock<std::mutex>& held) {
  Registered& block = at->second;
  if (!block.registrar) return false;
  const bool mine = !std::exchange(block.changing, true);
  bool gone = true;
  held.unlock();
  if (mine)
    gone = block.registrar->unregister_memory(at->first);
  else
    std::this_thread::yield();
  held.lock();
  if (!mine) return true;
  block.changing = false;
  if (!gone) return block.registrar = nullptr, false;
  bytes_ -= block.bytes;
  blocks_.erase(at);
  return true;
}

bool RegisteredBlocks::holds(char* address) const {
  if (!bytes()) return false;
  std::lock_guard held(mutex_);
  const auto behind = blocks_.upper_bound(address);
  if (behind == blocks_.begin()) return false;
  const auto& [data, block] = *std::prev(behind);
  return address < data + block.bytes;
}

void RegisteredBlocks::set_limit(size_t bytes) {
  std::lock_guard held(mutex_);
  limit_ = fork_keeps_registered_pages() ? bytes : 0;
}

void RegisteredBlocks::after_fork(bool child) {
  if (child) blocks_.clear(), bytes_ = 0;
  mutex_.unlock();
}

}  // namespace forerun
