// Blocks of host memory that devices copy from and to by themselves.
#pragma once
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>

namespace forerun {

// The client of a plugin, which drives devices that can do so.
class MemoryRegistrar {
 public:
  // Locks these pages in memory and tells the devices where they are. Whether it does.
  virtual bool register_memory(void* data, size_t bytes) const = 0;
  // Of memory that it has registered. Whether the devices have forgotten it: a plugin may refuse, in some threads.
  virtual bool unregister_memory(void* data) const = 0;

 protected:
  ~MemoryRegistrar() = default;
};

// Which blocks of the allocator are registered, and with whom: each with one at most. A block stays so when it is
// cached, and must be taken out before its pages go; as long as it is in, its pages must not be replaced by others. Any
// thread.
class RegisteredBlocks {
 public:
  static RegisteredBlocks& get();
  // Registers a block before a copy, unless it is registered or would exceed the limit. By a thread that keeps it from
  // being given back meanwhile. Another thread that copies it at the same time goes on without: the copy is as slow as
  // before.
  void add(char* data, size_t bytes, const MemoryRegistrar& registrar);
  // Before its pages go; nothing for a block that is not in. Whether they may go: otherwise a device would go on
  // copying from and to them where there are others.
  bool remove(char* data);
  void remove_all_of(const MemoryRegistrar& client);  // before it goes
  bool holds(char* address) const;                    // in one of the blocks
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // No more bytes are registered from now on; 0 from the start. A block that is registered stays so.
  void set_limit(size_t bytes);
  void before_fork() { mutex_.lock(); }
  void after_fork(bool child);  // the registrations are the parent's

 private:
  struct Registered {
    size_t bytes;
    const MemoryRegistrar* registrar;  // null: it would not unregister the block
    bool changing;                     // a thread registers or unregisters it, without the lock
  };
  using Blocks = std::map<char*, Registered>;
  bool remove(Blocks::iterator at, std::unique_lock<std::mutex>& held);

  // Guards the rest. A leaf: no other lock is taken, and no registrar is called while it is held, as that one may wait
  // for threads of its own that give blocks back. Of the allocator's lock and this one, none is taken under the other
  // but to fork: that one first.
  mutable std::mutex mutex_;
  Blocks blocks_;
  // Read without the lock, too, to see whether there are any: the thread that gives a block back knows what was done
  // with it before.
  std::atomic<size_t> bytes_{0};
  size_t limit_ = 0;
};

}  // namespace forerun
