// The events by which a plugin reports the end of its work.
#pragma once
#include <functional>
#include <memory>
#include <utility>

#include "pjrt/plugin.h"

namespace forerun::pjrt {

// Owns an event of a plugin: work that has ended or will end, successfully or with an error.
class Event {
 public:
  // Called once, with null or the error. By a thread of the plugin, or within on_ready() if the event is ready.
  using Callback = std::function<void(std::unique_ptr<PluginError>)>;

  Event() = default;
  Event(const Plugin& plugin, abi::Event* raw) : plugin_(&plugin), raw_(raw) {}
  Event(Event&& o) noexcept : plugin_(o.plugin_), raw_(std::exchange(o.raw_, nullptr)) {}
  Event& operator=(Event&& o) noexcept {
    std::swap(plugin_, o.plugin_), std::swap(raw_, o.raw_);
    return *this;
  }
  ~Event();

  explicit operator bool() const { return raw_; }
  bool ready() const;
  std::unique_ptr<PluginError> wait() const;  // null: success
  // Transfers the event to the plugin. No lock may be held that the callback takes.
  void on_ready(Callback callback) &&;

 private:
  struct Watch;
  const Plugin* plugin_ = nullptr;
  abi::Event* raw_ = nullptr;
};

}  // namespace forerun::pjrt
