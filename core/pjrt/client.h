// A plugin's client, and the devices that it found.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "memory/registered_blocks.h"
#include "pjrt/plugin.h"

namespace forerun::pjrt {

class Client;

// Statistics of a device about its memory, in bytes; those that it does not report are missing.
struct MemoryStats {
  int64_t in_use = 0;
  std::optional<int64_t> peak, limit;
};

// One device of a client, which owns it.
class Device {
 public:
  Device(const Client& client, abi::Device* raw);
  const Client& client() const { return *client_; }
  abi::Device* raw() const { return raw_; }
  int id() const { return id_; }
  const std::string& kind() const { return kind_; }  // the model: "NVIDIA H100 80GB HBM3"
  std::optional<MemoryStats> memory() const;         // empty: the plugin does not report it

 private:
  const Client* client_;
  abi::Device* raw_;
  int id_ = 0;
  std::string kind_;
};

// Options that the plugin knows by name, such as "preallocate" and "memory_fraction" for graphics processors.
using ClientOptions = std::vector<std::pair<std::string, std::variant<bool, int64_t, float, std::string>>>;

// In the plugin's form; they refer to the options.
std::vector<abi::NamedValue> named_values(const ClientOptions& options);

// A running plugin. Any thread may call it. A forked child may not, as the plugin's threads do not exist there.
class Client final : public MemoryRegistrar {
 public:
  // Null if the plugin finds no device. Throws PluginError for any other error.
  static std::unique_ptr<Client> create(const Plugin& plugin, const ClientOptions& options = {});
  ~Client();
  Client(const Client&) = delete;

  const Plugin& plugin() const { return plugin_; }
  abi::Client* raw() const { return raw_; }
  const std::vector<Device>& devices() const { return devices_; }
  const std::string& platform() const { return platform_; }  // "cpu", "cuda"
  const std::string& platform_version() const { return platform_version_; }

  // Whether this is a forked child of the process that made the client: no function of the plugin may be called.
  bool in_child() const;
  void check_process() const;  // throws in a child
  // For copies that the devices make directly. A plugin that has refused once is not asked again.
  bool register_memory(void* data, size_t bytes) const override;
  bool unregister_memory(void* data) const override;

 private:
  Client(const Plugin& plugin, abi::Client* raw);
  const Plugin& plugin_;
  abi::Client* const raw_;
  std::string platform_, platform_version_;
  std::vector<Device> devices_;
  const uint64_t forks_;  // the value of `forks` when the client was made
  mutable std::atomic<bool> registers_{true};
};

}  // namespace forerun::pjrt
