// Completions: the end of the writes of a storage, to be pushed to a queue.
#pragma once
#include <cstdint>

#include "base/containers/intrusive_list.h"
#include "base/error.h"
#include "base/region.h"

namespace forerun {

class CompletionQueue;
class CompletionList;
class Storage;

// The end of the writes of a storage that were submitted before Engine::watch(). It owns neither the storage nor the
// queue; its owner keeps both alive until Notifier::unwatch(). All fields are guarded by the notifier's lock, except
// that the owner may read `failure` once the completion has come out of its queue.
struct Completion {
  Storage* storage = nullptr;
  CompletionQueue* queue = nullptr;
  Region region;                   // the region that the owner will read, set by it
  uint32_t target = 0;             // complete when so many writes of the storage have ended
  FailurePtr failure;              // the failure of the values at that time
  CompletionList* list = nullptr;  // the list that contains it: its storage's, its queue's, or null
  Completion *prev = nullptr, *next = nullptr;
};

// A list from which any member can be removed in constant time.
class CompletionList {
 public:
  bool empty() const { return all_.empty(); }
  Completion* first() const { return all_.front(); }
  void push(Completion& c) { all_.push_back(&c), c.list = this; }
  void remove(Completion& c) { all_.remove(&c), c.list = nullptr; }

 private:
  TwoWayList<Completion, &Completion::prev, &Completion::next> all_;
};

}  // namespace forerun
