// Blocks of host memory that are registered with devices, which then copy from and to them directly.
#pragma once
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>

namespace forerun {

// The client of a plugin, with devices that can register memory.
class MemoryRegistrar {
 public:
  // Locks these pages in memory and gives the devices their addresses. Returns whether that succeeded.
  virtual bool register_memory(void* data, size_t bytes) const = 0;
  // Unregisters memory. Returns whether that succeeded: a plugin may refuse, in some threads.
  virtual bool unregister_memory(void* data) const = 0;

 protected:
  ~MemoryRegistrar() = default;
};

// The registered blocks of the allocator, each with its registrar. A block stays registered when it is cached, and must
// be removed before its pages are released; while it is registered its pages must not be replaced by others. Any
// thread.
class RegisteredBlocks {
 public:
  static RegisteredBlocks& get();
  // Registers a block before a copy, unless it is registered or would exceed the limit. The calling thread must prevent
  // that the block is given back meanwhile. Another thread that copies the block at the same time does not wait: its
  // copy is as slow as before.
  void add(char* data, size_t bytes, const MemoryRegistrar& registrar);
  // Unregisters a block before its pages are released; does nothing for a block that is not registered. Returns whether
  // the pages may be released: otherwise a device could copy from and to pages that have been replaced.
  bool remove(char* data);
  void remove_all_of(const MemoryRegistrar& client);  // before the client is destroyed
  bool holds(char* address) const;                    // whether the address is in one of the blocks
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // Limits the registered bytes from now on; initially 0. A registered block stays registered.
  void set_limit(size_t bytes);
  void before_fork() { mutex_.lock(); }
  void after_fork(bool child);  // the registrations belong to the parent

 private:
  struct Registered {
    size_t bytes;
    const MemoryRegistrar* registrar;  // null: the registrar refused to unregister the block
    bool changing;                     // a thread is registering or unregistering it, without the lock
  };
  using Blocks = std::map<char*, Registered>;
  bool remove(Blocks::iterator at, std::unique_lock<std::mutex>& held);

  // Guards the rest. No other lock is taken and no registrar is called while it is held, as a registrar may wait for
  // threads of its own that give blocks back. Only fork takes both locks, the allocator's first.
  mutable std::mutex mutex_;
  Blocks blocks_;
  // Also read without the lock, to see whether there are any registered blocks: the thread that gives a block back
  // knows the copies that it was used in.
  std::atomic<size_t> bytes_{0};
  size_t limit_ = 0;
};

}  // namespace forerun
