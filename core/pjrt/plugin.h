// A PJRT plugin: a shared library that drives the devices of one kind.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pjrt/abi.h"
#include "pjrt/error.h"

namespace forerun::pjrt {

// Loaded once per file and process, and never unloaded: a plugin has threads, and code that runs at exit. Any thread.
class Plugin {
 public:
  // Throws Error if the file is not a plugin, or is one of an unsupported version.
  static const Plugin& load(const std::string& path);

  const std::string& path() const { return path_; }
  int minor_version() const { return table_->version.minor_version; }
  // Attributes that the plugin reports about itself, as text: "xla_version", "stablehlo_current_version" and others.
  const std::vector<std::pair<std::string, std::string>>& attributes() const { return attributes_; }
  // Differs between plugins that cannot exchange executables: versions, the file of the plugin, and the processor.
  const std::string& fingerprint() const { return fingerprint_; }

  // Whether this plugin has the function; all functions in `abi.h` exist from its minor version on, but a plugin may
  // leave one null.
  template <class A>
  bool has() const {
    return has(A::kSlot);
  }
  // Calls the function of these arguments. Throws PluginError with the error that it returns.
  template <class A>
  void call(A& arguments) const {
    if (abi::Error* error = answer(arguments)) throw_error(error);
  }
  // The same for functions that release objects, which must not throw: an error is dropped.
  template <class A>
  void give_back(A& arguments) const noexcept {
    if (!has<A>()) return;
    if (abi::Error* error = answer(arguments)) drop(error);
  }
  // Takes an error of the plugin, which is returned to it. Null for no error.
  std::unique_ptr<PluginError> take(abi::Error* error) const;
  // The entry of the plugin's chain of extensions with this type, or null.
  const abi::Extension* extension(int type) const;

 private:
  Plugin(std::string path, const abi::Table* table);
  static const Plugin* open(const std::string& path);
  bool has(int slot) const {
    return offsetof(abi::Table, functions) + sizeof(abi::Function) * (slot + 1) <= table_->struct_size &&
           table_->functions[slot];
  }
  template <class A>
  abi::Error* answer(A& arguments) const {
    if (!has(A::kSlot)) throw_missing(A::kSlot);
    return table_->functions[A::kSlot](&arguments);
  }
  [[noreturn]] void throw_error(abi::Error* error) const;
  [[noreturn]] void throw_missing(int slot) const;
  void drop(abi::Error* error) const;
  void read_attributes();

  const std::string path_;
  const abi::Table* const table_;
  std::vector<std::pair<std::string, std::string>> attributes_;
  std::string fingerprint_;
};

}  // namespace forerun::pjrt
