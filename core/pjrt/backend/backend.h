// Devices of a PJRT client as devices of the engine.
#pragma once
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "device/accelerator.h"
#include "device/op_spec.h"
#include "pjrt/module_cache.h"

namespace forerun::pjrt {

// The module of an operation in StableHLO; none: there is no lowering. `op`: the operation that the spec describes.
using Emit = std::function<std::optional<std::string>(const OpSpec& spec, Op& op)>;

// The code of one operation, which is compiled when it is handed over for the first time.
class Code {
 public:
  explicit Code(std::string text) : text_(std::move(text)) {}
  // Compiles, or waits for the thread that does. Throws PluginError with the compiler's text.
  const Module& module(ModuleCache& modules);

 private:
  const std::string text_;
  std::mutex mutex_;
  ModuleCache::ModulePtr module_;  // guarded until it is there
};

// The client of a plugin, with its modules and its devices. Lives as long as the process: storages refer to it.
class Backend {
 public:
  Backend(std::unique_ptr<Client> client, std::optional<std::filesystem::path> folder, size_t most, Emit emit);
  ~Backend();

  const Client& client() const { return *client_; }
  ModuleCache& modules() { return modules_; }
  Accelerator& device(size_t i) const;  // its number among those of the client
  void set_name(size_t i, std::string name);

  // By issuing threads, with the interpreter lock. Null: there is no code for it.
  std::shared_ptr<Code> code(const OpSpec& spec, Op& op);

 private:
  class DeviceOf;
  const std::unique_ptr<Client> client_;
  ModuleCache modules_;
  const Emit emit_;
  std::vector<std::unique_ptr<DeviceOf>> devices_;

  // The codes that were used last, by the key of what they compute. Guarded by the interpreter lock.
  static constexpr size_t kMostCodes = 4096;
  struct Known {
    std::string key;
    std::shared_ptr<Code> code;
  };
  std::list<Known> known_;  // the one used last in front
  std::unordered_map<std::string_view, std::list<Known>::iterator> places_;
  std::string key_;
};

}  // namespace forerun::pjrt
