// The errors of a plugin as exceptions.
#pragma once
#include <string>

#include "base/error.h"
#include "pjrt/abi.h"

namespace forerun::pjrt {

// An error of a plugin: its code and text. For exhausted device memory the kind is `ErrorKind::memory`.
class PluginError : public Error {
 public:
  PluginError(abi::Code code, const std::string& message) : Error(kind_of(code), message), code(code) {}
  bool out_of_memory() const { return code == abi::Code::resource_exhausted; }
  const abi::Code code;

 private:
  static ErrorKind kind_of(abi::Code code) {
    switch (code) {
      case abi::Code::resource_exhausted: return ErrorKind::memory;
      case abi::Code::invalid_argument: return ErrorKind::value;
      case abi::Code::unimplemented: return ErrorKind::not_implemented;
      default: return ErrorKind::runtime;
    }
  }
};

}  // namespace forerun::pjrt
