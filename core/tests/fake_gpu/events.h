// The events of the device that behaves like a remote one, and the thread that reports them when their time has come.
// For fake_gpu.cpp only.
#pragma once
#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>
#include <vector>

#include "state.h"

namespace {

void finish(Waiting* event) {
  if (event->inner) {
    auto wait = arguments<EventAwait>();
    wait.event = event->inner;
    const Failure failure = taken(ask(wait));
    if (event->failure.code == Code::ok) event->failure = failure;
    auto drop = arguments<EventDestroy>();
    drop.event = event->inner, ask(drop);
  }
  std::unique_lock lock(mutex);
  event->ready = true;
  changed.notify_all();
  while (!event->callbacks.empty()) {
    auto callbacks = std::move(event->callbacks);
    event->callbacks.clear();
    const Failure failure = event->failure;
    lock.unlock();
    for (auto [call, argument] : callbacks) call(error_of(failure), argument);
    lock.lock();
  }
  event->reported = true;
  if (event->dropped) delete event;
}

Event* event_at(Event* inner, Time at, const Failure& failure = {}, const void* memory = nullptr) {
  auto* event = new Waiting{inner, at, failure, static_cast<const char*>(memory), false, false, false, {}};
  std::unique_lock lock(mutex);
  if (settings.at_once) {
    lock.unlock();
    finish(event);
  } else {
    due.push_back(event);
    changed.notify_all();
  }
  return reinterpret_cast<Event*>(event);
}

// Whether ends are held back. They are reported after a while in any case: a program that waits for one fails instead
// of hanging.
bool held_back(Time oldest) {
  if (at_work.size() >= awaited || Clock::now() > oldest + std::chrono::seconds(20)) awaited = 0;
  return awaited > 0;
}

// Ends events when their time has come.
void tell() {
  for (;;) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [] { return !due.empty(); });
    const Time next =
        (*std::min_element(due.begin(), due.end(), [](auto* a, auto* b) { return a->due < b->due; }))->due;
    if (next > Clock::now()) {
      changed.wait_until(lock, next);
      continue;
    }
    if (held_back(next)) {
      changed.wait_until(lock, Clock::now() + std::chrono::milliseconds(20));
      continue;
    }
    std::vector<Waiting*> now;
    for (Waiting* event : due)
      if (event->due <= Clock::now()) now.push_back(event);
    std::erase_if(due, [&](Waiting* event) { return std::find(now.begin(), now.end(), event) != now.end(); });
    std::stable_sort(now.begin(), now.end(), [](auto* a, auto* b) { return a->due < b->due; });
    if (settings.reversed) std::reverse(now.begin(), now.end());
    lock.unlock();
    for (Waiting* event : now) finish(event);
  }
}

Waiting* waiting(Event* event) { return reinterpret_cast<Waiting*>(event); }
Error* event_destroy(EventDestroy* a) {
  std::unique_lock lock(mutex);
  Waiting* event = waiting(a->event);
  if (!event) return nullptr;
  if (event->reported) {
    delete event;
  } else {
    event->dropped = true;
  }
  return nullptr;
}
Error* event_ready(EventIsReady* a) {
  std::lock_guard lock(mutex);
  a->is_ready = waiting(a->event)->ready;
  return nullptr;
}
Error* event_await(EventAwait* a) {
  Failure failure;
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return waiting(a->event)->ready; });
    failure = waiting(a->event)->failure;
  }
  return error_of(failure);
}
Error* event_error(EventError* a) { return error_of(waiting(a->event)->failure); }
Error* event_on_ready(EventOnReady* a) {
  Waiting* event = waiting(a->event);
  std::unique_lock lock(mutex);
  if (!event->ready) {
    event->callbacks.emplace_back(a->callback, a->user_arg);
    return nullptr;
  }
  const Failure failure = event->failure;
  lock.unlock();
  a->callback(error_of(failure), a->user_arg);
  return nullptr;
}

}  // namespace
