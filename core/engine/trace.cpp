#include "engine/trace.h"

#include <chrono>

#include "base/error.h"

namespace forerun {

void Trace::start(size_t capacity) {
  std::lock_guard guard(mutex_);
  events_.clear();
  capacity_ = capacity;
  dropped_ = 0;
  on_.store(true);
}

std::vector<Event> Trace::stop() {
  on_.store(false);
  std::lock_guard guard(mutex_);
  return std::move(events_);
}

void Trace::add(Event event) {
  std::lock_guard guard(mutex_);
  if (!on()) return;
  if (events_.size() < capacity_ && if_memory_allows([&] { events_.push_back(std::move(event)); })) return;
  ++dropped_;
}

double Trace::now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

uint64_t Trace::thread_number() {
  static std::atomic<uint64_t> next{0};
  thread_local uint64_t mine = next.fetch_add(1);
  return mine;
}

}  // namespace forerun
