// Devices of a PJRT client as devices of the engine.
#pragma once
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
#include "pjrt/backend/device_kernels.h"
#include "pjrt/modules/module_cache.h"

namespace forerun::pjrt {

// Writes modules in StableHLO; implemented by the front end. No value: there is no lowering.
class Writer {
 public:
  struct Step {
    const OpSpec* spec;
    std::vector<int> inputs, outputs;  // slots
  };
  struct Slot {
    DType dtype;
    int64_t size;
    bool kept, scalar;
  };
  virtual ~Writer() = default;
  virtual std::optional<std::string> operation(const OpSpec& spec) const = 0;
  // Its arguments are the slots that are read, or written in part, before they are written as a whole, and those whose
  // memory is donated, in their order; its results are those that are written and kept, followed, if there are steps
  // that check their values, by a vector that says for each of these whether they were bad. donated: slots whose
  // results reuse their old memory.
  virtual std::optional<std::string> program(const std::vector<Step>& steps, const std::vector<Slot>& slots,
                                             const std::vector<int>& donated) const = 0;
};

struct Call;

// The code of one operation, which is compiled when the operation is first handed over.
class Code {
 public:
  // spec: empty for a program.
  Code(std::string text, std::optional<OpSpec> spec) : spec_(std::move(spec)), text_(std::move(text)) {}
  bool joined() const { return !spec_; }
  // The description of the first operation with this code: others differ in values and in the numbers of accesses.
  const OpSpec& spec() const { return *spec_; }
  // Compiles for an operation that was issued at `site`, or waits for the thread that is doing so. Throws PluginError
  // with the compiler's text.
  const Module& module(ModuleCache& modules, const char* name, uint32_t site);
  // The call of the last operation with this code. Guarded by the interpreter lock.
  std::shared_ptr<const Call> call;

 private:
  const std::optional<OpSpec> spec_;
  const std::string text_;
  std::mutex mutex_;
  ModuleCache::ModulePtr module_;  // guarded until it is set
};

// The client of a plugin, with its modules and its devices. Lives as long as the process: storages refer to it.
class Backend {
 public:
  Backend(std::unique_ptr<Client> client, std::optional<std::filesystem::path> folder, size_t most,
          std::unique_ptr<Writer> writer);
  ~Backend();

  const Client& client() const { return *client_; }
  ModuleCache& modules() { return modules_; }
  Accelerator& device(size_t i) const;  // i: its number among the devices of the client
  void set_name(size_t i, std::string name);

  // By issuing threads, with the interpreter lock. Null: there is no code for it.
  std::shared_ptr<Code> code(const OpSpec& spec);
  const Writer& writer() const { return *writer_; }

 private:
  class DeviceOf;
  const std::unique_ptr<Client> client_;
  ModuleCache modules_;
  StagingPool staging_;
  const std::unique_ptr<Writer> writer_;
  std::vector<std::unique_ptr<DeviceOf>> devices_;

  // The codes used last, by the key of their computations. Guarded by the interpreter lock.
  static constexpr size_t kMostCodes = 4096;
  struct Known {
    std::string key;
    std::shared_ptr<Code> code;
  };
  const std::shared_ptr<Code>* find(const std::string& key);

  std::list<Known> known_;  // the one used last in front
  std::unordered_map<std::string_view, std::list<Known>::iterator> places_;
  std::string key_;  // of the operation that is being looked up
  RecentModuleKernels recent_;
};

}  // namespace forerun::pjrt
