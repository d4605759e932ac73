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
  Region region;                   // that the owner looks at, set by it
  uint32_t target = 0;             // complete when so many writes of the storage have ended
  FailurePtr failure;              // what was wrong with the values then
  CompletionList* list = nullptr;  // where it stands: in its storage's, in its queue's, or (null) nowhere
  Completion *prev = nullptr, *next = nullptr;
};

// Any of its members leaves at once.
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
