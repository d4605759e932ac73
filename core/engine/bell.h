// To be told instead of to wait: an event loop polls a bell's descriptor, and however many results it needs, no thread
// waits.
//
//   Bell bell;                                    // one per loop, which polls bell.descriptor()
//   engine.watch(watcher, storage, bell);         // false: nothing to wait for
//   engine.take_told(bell, told, 100);            // the descriptor is readable: who is told now
//   engine.unwatch(watcher);                      // at any time; before the watcher, the storage or the bell goes
//
// What is awaited costs nothing while it stands in its lists: a write that ends looks at the watchers of its own
// storage alone, and at no more of them than it tells.
#pragma once
#include <cstdint>

#include "base/chain.h"
#include "base/error.h"
#include "base/region.h"

namespace forerun {

class Bell;
class Storage;
class WatcherList;

// Somebody who is to be told when the writes of a storage that were issued before have ended. It owns neither the
// storage nor the bell; its owner keeps both alive until unwatch(). All fields are guarded by the
// notifier's lock, except that the owner may read `failure` once the watcher has been told.
struct Watcher {
  Storage* storage = nullptr;
  Bell* bell = nullptr;
  Region region;                // that it looks at, set by its owner
  uint32_t target = 0;          // told when so many writes of the storage have ended
  FailurePtr failure;           // what was wrong with the values then
  WatcherList* list = nullptr;  // where it stands: in its storage's, in its bell's, or (null) nowhere
  Watcher *prev = nullptr, *next = nullptr;
};

// Lets go of any of its watchers at once.
class WatcherList {
 public:
  bool empty() const { return all_.empty(); }
  Watcher* first() const { return all_.front(); }
  void push(Watcher& w) { all_.push_back(&w), w.list = this; }
  void remove(Watcher& w) { all_.remove(&w), w.list = nullptr; }

 private:
  TwoWayChain<Watcher, &Watcher::prev, &Watcher::next> all_;
};

// A descriptor that is readable while somebody is to be told. Owned by the front end; no watcher may be left when it
// goes.
class Bell {
 public:
  Bell();
  ~Bell();
  Bell(const Bell&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  friend class Notifier;
  void ring();
  void silence();

  const int descriptor_;
  // Guarded by the notifier's lock. While `told_` has anybody, the descriptor is readable or the bell is to be
  // rung.
  WatcherList told_;
  Bell* next_ = nullptr;  // among the bells to be rung
  bool to_ring_ = false;
};

}  // namespace forerun
