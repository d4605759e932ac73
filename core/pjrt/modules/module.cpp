#include "pjrt/modules/module.h"

#include <algorithm>

namespace forerun::pjrt {

namespace {

// A field of a protocol buffer: field number * 8 + 2, the length, the bytes.
std::string bytes_field(int number, const std::string& bytes) {
  return std::string{static_cast<char>(number * 8 + 2), static_cast<char>(bytes.size())} + bytes;
}
std::string true_field(int number) { return {static_cast<char>(number * 8), 1}; }

}  // namespace

std::string compile_options(bool deterministic) {
  std::string options = bytes_field(3, true_field(4) + true_field(5)) +  // executable_build_options: num_replicas = 1,
                        true_field(4);  //                            num_partitions = 1; compile_portable_executable
  if (deterministic)  // env_option_overrides: a map from names to values, whose field for bools has number 2
    options += bytes_field(7, bytes_field(1, "xla_gpu_exclude_nondeterministic_ops") + bytes_field(2, true_field(2)));
  return options;
}

std::string compile_options(const Client& client) {
  return compile_options(client.platform() == "cuda" || client.platform() == "rocm");
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
  const std::string options = compile_options(client);
  a.compile_options = options.data(), a.compile_options_size = options.size();
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
