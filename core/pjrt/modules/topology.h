// Devices that this machine does not have, for which a plugin can compile.
#pragma once
#include <memory>
#include <string_view>

#include "pjrt/client.h"

namespace forerun::pjrt {

// A description of devices: NVIDIA's plugin takes the model of the processor as "target_config".
class Topology {
 public:
  Topology(const Plugin& plugin, const ClientOptions& options);
  ~Topology();
  Topology(const Topology&) = delete;

  // Compiles a module in StableHLO for them. Throws PluginError with the compiler's text.
  void compile(std::string_view stablehlo, bool deterministic) const;

 private:
  const Plugin& plugin_;
  abi::Topology* raw_ = nullptr;
};

}  // namespace forerun::pjrt
