#include "pjrt/event.h"

#include <atomic>

namespace forerun::pjrt {

Event::~Event() {
  if (!raw_) return;
  auto a = abi::arguments<abi::EventDestroy>();
  a.event = raw_, plugin_->give_back(a);
}

bool Event::ready() const {
  auto a = abi::arguments<abi::EventIsReady>();
  a.event = raw_, plugin_->call(a);
  return a.is_ready;
}

std::unique_ptr<PluginError> Event::wait() const {
  auto a = abi::arguments<abi::EventAwait>();
  a.event = raw_;
  try {
    plugin_->call(a);
  } catch (const PluginError& error) {
    return std::make_unique<PluginError>(error);
  }
  return nullptr;
}

// A request for a call when an event is ready. It lives until the call was made and the request has returned: the
// plugin may do either first, and uses the event in both.
struct Event::Watch {
  Event event;
  Callback callback;
  std::atomic<int> left{2};
  void done() {
    if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  static void on_ready(abi::Error* error, void* self) {
    auto* watch = static_cast<Watch*>(self);
    watch->callback(watch->event.plugin_->take(error));
    watch->done();
  }
};

void Event::on_ready(Callback callback) && {
  auto* watch = new Watch{std::move(*this), std::move(callback)};
  auto a = abi::arguments<abi::EventOnReady>();
  a.event = watch->event.raw_, a.callback = Watch::on_ready, a.user_arg = watch;
  try {
    watch->event.plugin_->call(a);
  } catch (const PluginError& error) {  // it will not be called
    watch->callback(std::make_unique<PluginError>(error));
    watch->done();
  }
  watch->done();
}

}  // namespace forerun::pjrt
