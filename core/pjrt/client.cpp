#include "pjrt/client.h"

#include <atomic>

#include "base/system/fork.h"

namespace forerun::pjrt {

namespace {

// The number of forks between the first process and this one.
std::atomic<uint64_t> forks{0};

uint64_t count_forks() {
  [[maybe_unused]] static const bool registered = (at_fork(nullptr, nullptr, [] { forks.fetch_add(1); }), true);
  return forks.load();
}

abi::NamedValue named(const std::string& name, const std::variant<bool, int64_t, float, std::string>& value) {
  auto named = abi::arguments<abi::NamedValue>();
  named.name = name.data(), named.name_size = name.size(), named.value_size = 1;
  if (const bool* flag = std::get_if<bool>(&value)) {
    named.type = abi::NamedValueType::boolean, named.bool_value = *flag;
  } else if (const int64_t* number = std::get_if<int64_t>(&value)) {
    named.type = abi::NamedValueType::int64, named.int64_value = *number;
  } else if (const float* part = std::get_if<float>(&value)) {
    named.type = abi::NamedValueType::float32, named.float_value = *part;
  } else {
    const std::string& text = std::get<std::string>(value);
    named.type = abi::NamedValueType::string, named.string_value = text.data(), named.value_size = text.size();
  }
  return named;
}

// Plugins for graphics processors report this if there is no such processor, or no driver.
bool says_no_device(const PluginError& error) {
  return std::string(error.what()).find("No visible GPU devices") != std::string::npos;
}

std::optional<int64_t> known(const abi::OptionalBytes& bytes) {
  return bytes.is_set ? std::optional(bytes.value) : std::nullopt;
}

}  // namespace

std::vector<abi::NamedValue> named_values(const ClientOptions& options) {
  std::vector<abi::NamedValue> values;
  for (const auto& [name, value] : options) values.push_back(named(name, value));
  return values;
}

std::unique_ptr<Client> Client::create(const Plugin& plugin, const ClientOptions& options) {
  const std::vector<abi::NamedValue> values = named_values(options);
  auto a = abi::arguments<abi::ClientCreate>();
  a.create_options = values.data(), a.num_options = values.size();
  try {
    plugin.call(a);
  } catch (const PluginError& error) {
    if (says_no_device(error)) return nullptr;
    throw PluginError(error.code,
                      "pjrt: the plugin " + plugin.path() + " must reach its devices, got: " + error.what());
  }
  std::unique_ptr<Client> client(new Client(plugin, a.client));
  return client->devices_.empty() ? nullptr : std::move(client);
}

Client::Client(const Plugin& plugin, abi::Client* raw) : plugin_(plugin), raw_(raw), forks_(count_forks()) {
  auto name = abi::arguments<abi::ClientPlatformName>();
  name.client = raw_, plugin_.call(name);
  platform_.assign(name.platform_name, name.platform_name_size);
  auto version = abi::arguments<abi::ClientPlatformVersion>();
  version.client = raw_, plugin_.call(version);
  platform_version_.assign(version.platform_version, version.platform_version_size);
  auto all = abi::arguments<abi::ClientAddressableDevices>();
  all.client = raw_, plugin_.call(all);
  for (size_t i = 0; i < all.num_addressable_devices; ++i) devices_.emplace_back(*this, all.addressable_devices[i]);
}

Client::~Client() {
  if (in_child()) return;
  RegisteredBlocks::get().remove_all_of(*this);
  auto a = abi::arguments<abi::ClientDestroy>();
  a.client = raw_, plugin_.give_back(a);
}

bool Client::in_child() const { return forks.load(std::memory_order_relaxed) != forks_; }

void Client::check_process() const {
  if (in_child())
    throw Error(ErrorKind::runtime, "pjrt: devices of the platform " + platform_ +
                                        " must be used by the process that opened them, got a forked child of it");
}

bool Client::register_memory(void* data, size_t bytes) const {
  if (!registers_.load(std::memory_order_relaxed)) return false;
  auto a = abi::arguments<abi::ClientDmaMap>();
  a.client = raw_, a.data = data, a.size = bytes;
  try {
    plugin_.call(a);
  } catch (const Error&) {
    registers_.store(false, std::memory_order_relaxed);
    return false;
  }
  return true;
}

bool Client::unregister_memory(void* data) const {
  auto a = abi::arguments<abi::ClientDmaUnmap>();
  a.client = raw_, a.data = data;
  try {
    plugin_.call(a);
  } catch (const Error&) {
    return false;
  }
  return true;
}

Device::Device(const Client& client, abi::Device* raw) : client_(&client), raw_(raw) {
  const Plugin& plugin = client.plugin();
  auto description = abi::arguments<abi::DeviceGetDescription>();
  description.device = raw, plugin.call(description);
  auto id = abi::arguments<abi::DeviceDescriptionId>();
  id.device_description = description.device_description, plugin.call(id);
  id_ = id.id;
  auto kind = abi::arguments<abi::DeviceDescriptionKind>();
  kind.device_description = description.device_description, plugin.call(kind);
  kind_.assign(kind.device_kind, kind.device_kind_size);
}

std::optional<MemoryStats> Device::memory() const {
  auto a = abi::arguments<abi::DeviceMemoryStats>();
  a.device = raw_;
  try {
    client_->plugin().call(a);
  } catch (const Error&) {
    return std::nullopt;
  }
  return MemoryStats{a.bytes_in_use, known(a.peak_bytes_in_use), known(a.bytes_limit)};
}

}  // namespace forerun::pjrt
