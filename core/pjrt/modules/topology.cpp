#include "pjrt/modules/topology.h"

#include "pjrt/modules/module.h"

namespace forerun::pjrt {

Topology::Topology(const Plugin& plugin, const ClientOptions& options) : plugin_(plugin) {
  static constexpr std::string_view kName = "absent";
  const std::vector<abi::NamedValue> values = named_values(options);
  auto a = abi::arguments<abi::TopologyDescriptionCreate>();
  a.topology_name = kName.data(), a.topology_name_size = kName.size();
  a.create_options = values.data(), a.num_options = values.size();
  plugin_.call(a);
  raw_ = a.topology;
}

Topology::~Topology() {
  auto a = abi::arguments<abi::TopologyDescriptionDestroy>();
  a.topology = raw_, plugin_.give_back(a);
}

void Topology::compile(std::string_view stablehlo, bool deterministic) const {
  const abi::Program program = program_of(stablehlo);
  auto a = abi::arguments<abi::Compile>();
  a.topology = raw_, a.program = &program;
  const std::string options = compile_options(deterministic);
  a.compile_options = options.data(), a.compile_options_size = options.size();
  plugin_.call(a);
  auto made = abi::arguments<abi::ExecutableDestroy>();
  made.executable = a.executable, plugin_.give_back(made);
}

}  // namespace forerun::pjrt
