// StableHLO programs, compiled for the devices of a client.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pjrt/buffer.h"

namespace forerun::pjrt {

// A serialized CompileOptionsProto: one device at a time, any of the client's. `deterministic`: GPUs give the same bits
// each time that a module runs, so additions must not depend on the order in which threads finish.
std::string compile_options(bool deterministic);
std::string compile_options(const Client& client);

abi::Program program_of(std::string_view stablehlo);  // refers to the text

// Bytes that a module needs on the device besides its arguments.
struct ModuleMemory {
  int64_t results = 0, temporary = 0;
  int64_t reused = 0;  // of the results: they reuse the memory of arguments
};

// A compiled program. Any thread may execute it, several at once. The client must outlive it.
class Module {
 public:
  // Throws PluginError with the compiler's text and location.
  static std::unique_ptr<Module> compile(const Client& client, std::string_view stablehlo);
  // From the bytes of serialize(), by the same plugin on the same kind of device.
  static std::unique_ptr<Module> deserialize(const Client& client, std::string_view bytes);
  ~Module();
  Module(const Module&) = delete;

  std::string serialize() const;
  size_t results() const { return results_; }
  ModuleMemory memory() const;

  // Hands over an execution, which follows the operations that write its arguments, and returns its results, which will
  // be ready. Arguments that the program marks as donated lose their memory, except those whose positions are in
  // `kept`. The location, "train.py:12", is for the plugin's own texts. `done`, if not null, ends with the execution.
  std::vector<Buffer> execute(const Device& device, std::span<abi::Buffer* const> arguments,
                              std::span<const int64_t> kept = {}, const char* call_location = nullptr,
                              Event* done = nullptr) const;

 private:
  Module(const Client& client, abi::LoadedExecutable* raw);
  const Client& client_;
  abi::LoadedExecutable* const raw_;
  abi::Executable* executable_ = nullptr;  // for queries about it
  size_t results_ = 0;
};

}  // namespace forerun::pjrt
