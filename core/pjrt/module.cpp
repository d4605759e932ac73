#include "pjrt/module.h"

#include <algorithm>

namespace forerun::pjrt {

std::string_view compile_options() {
  // Protocol buffers: field number * 8 + kind of value, then the value; kind 0 is a number, kind 2 bytes after their
  // length.
  static constexpr char kOptions[] = {
      3 * 8 + 2, 4,            // CompileOptionsProto.executable_build_options, of four bytes:
      4 * 8,     1, 5 * 8, 1,  //   num_replicas = 1, num_partitions = 1
      4 * 8,     1,            // CompileOptionsProto.compile_portable_executable = true
  };
  return {kOptions, sizeof kOptions};
}

abi::Program program_of(std::string_view stablehlo) {
  static constexpr std::string_view kFormat = "mlir";
  auto program = abi::arguments<abi::Program>();
  program.code = stablehlo.data(), program.code_size = stablehlo.size();
  program.format = kFormat.data(), program.format_size = kFormat.size();
  return program;
}

std::unique_ptr<Module> Module::compile(const Client& client, std::string_view stablehlo) {
  client.check_process();
  const abi::Program program = program_of(stablehlo);
  auto a = abi::arguments<abi::ClientCompile>();
  a.client = client.raw(), a.program = &program;
  a.compile_options = compile_options().data(), a.compile_options_size = compile_options().size();
  client.plugin().call(a);
  return std::unique_ptr<Module>(new Module(client, a.executable));
}

std::unique_ptr<Module> Module::deserialize(const Client& client, std::string_view bytes) {
  client.check_process();
  auto a = abi::arguments<abi::ExecutableDeserializeAndLoad>();
  a.client = client.raw(), a.serialized_executable = bytes.data(), a.serialized_executable_size = bytes.size();
  client.plugin().call(a);
  return std::unique_ptr<Module>(new Module(client, a.loaded_executable));
}

Module::Module(const Client& client, abi::LoadedExecutable* raw) : client_(client), raw_(raw) {
  auto executable = abi::arguments<abi::LoadedExecutableGetExecutable>();
  executable.loaded_executable = raw_, client_.plugin().call(executable);
  executable_ = executable.executable;
  auto results = abi::arguments<abi::ExecutableNumOutputs>();
  results.executable = executable_, client_.plugin().call(results);
  results_ = results.num_outputs;
}

Module::~Module() {
  if (client_.in_child()) return;
  auto a = abi::arguments<abi::ExecutableDestroy>();
  a.executable = executable_, client_.plugin().give_back(a);
  auto loaded = abi::arguments<abi::LoadedExecutableDestroy>();
  loaded.executable = raw_, client_.plugin().give_back(loaded);
}

std::string Module::serialize() const {
  auto a = abi::arguments<abi::ExecutableSerialize>();
  a.executable = executable_, client_.plugin().call(a);
  std::string bytes(a.serialized_bytes, a.serialized_bytes_size);
  a.serialized_executable_deleter(a.serialized_executable);
  return bytes;
}

ModuleMemory Module::memory() const {
  auto a = abi::arguments<abi::ExecutableGetCompiledMemoryStats>();
  a.executable = executable_;
  try {
    client_.plugin().call(a);
  } catch (const Error&) {
    return {};
  }
  return {a.output_size_in_bytes, a.temp_size_in_bytes, a.alias_size_in_bytes};
}

std::vector<Buffer> Module::execute(const Device& device, std::span<abi::Buffer* const> arguments,
                                    std::span<const int64_t> kept, const char* call_location, Event* done) const {
  client_.check_process();
  auto options = abi::arguments<abi::ExecuteOptions>();
  options.non_donatable_input_indices = kept.data(), options.num_non_donatable_input_indices = kept.size();
  options.call_location = call_location;
  std::vector<abi::Buffer*> raw(results_);
  abi::Buffer* const* argument_list = arguments.data();
  abi::Buffer** result_list = raw.data();
  abi::Event* ended = nullptr;
  auto a = abi::arguments<abi::LoadedExecutableExecute>();
  a.executable = raw_, a.options = &options, a.num_devices = 1, a.num_args = arguments.size();
  a.argument_lists = &argument_list, a.output_lists = &result_list, a.execute_device = device.raw();
  if (done) a.device_complete_events = &ended;
  client_.plugin().call(a);
  if (done) *done = Event(client_.plugin(), ended);
  std::vector<Buffer> results;
  results.reserve(results_);
  for (abi::Buffer* each : raw) results.emplace_back(client_.plugin(), each);
  return results;
}

}  // namespace forerun::pjrt
