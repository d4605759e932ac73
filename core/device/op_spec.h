// The description of an operation for any kind of device: a kind, a name, operands and attributes.
//
// Kernels describe themselves (Kernel::describe()), and a device makes its own code from the description
// (device/accelerator.h). The kinds, and the attributes of each, are listed in src/forerun/_pjrt/spec.py.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "array/layout.h"
#include "base/dtype.h"
#include "base/error.h"
#include "engine/operations/op.h"

namespace forerun {

// The dtype of the array that a storage was made for.
inline DType dtype_of_storage(const Storage& storage) {
  return storage.form.dtype == DebugShape::kNone ? DType::u8 : static_cast<DType>(storage.form.dtype);
}

struct OpSpec {
  // A view of the storage of an access; or a scalar, whose value is not part of the computation's description.
  struct Operand {
    int access = -1;  // -1: a scalar
    Layout layout;    // of a scalar: its dtype, and no axes
    alignas(16) unsigned char value[16] = {};
    // Set by locate(): the dtype of the storage, and how an output writes it.
    DType storage_dtype = DType::u8;
    int64_t storage_size = 0;
    Mode mode = Mode::read;
    bool moves = false;  // its offset in the storage is not part of the description: separate_offsets()
  };
  using Attribute = std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<int64_t>,
                                 std::vector<DType>, std::vector<std::string>>;

  const char* kind = "";  // a literal
  std::string name;
  std::vector<Operand> inputs, outputs;
  std::vector<std::pair<const char*, Attribute>> attributes;
  // The error if the operation does not accept the values (with the attribute `check`).
  ErrorKind error = ErrorKind::value;
  std::string error_message;

  void input(int access, Layout layout) {
    Operand& made = inputs.emplace_back();
    made.access = access, made.layout = std::move(layout);
  }
  void output(int access, Layout layout) {
    Operand& made = outputs.emplace_back();
    made.access = access, made.layout = std::move(layout);
  }
  void scalar(DType dtype, const void* value);
  void set(const char* attribute, Attribute value) { attributes.emplace_back(attribute, std::move(value)); }
  // For operations that may reject their values: with this attribute a module reports whether the values were valid.
  void check(ErrorKind kind, std::string message) {
    set("check", true);
    error = kind, error_message = std::move(message);
  }

  // Clears it to describe another operation, and keeps its memory.
  void clear() {
    kind = "", name.clear(), inputs.clear(), outputs.clear(), attributes.clear();
    error = ErrorKind::value, error_message.clear();
  }
  // Reads the storages of the op that it describes.
  void locate(Op& op);
  // Turns the offsets, in elements, of operands that are contiguous parts of storages into scalars behind the other
  // inputs, in the order of the inputs and then the outputs. So a loop over the rows of an array needs one compiled
  // module for all rows. After locate().
  void separate_offsets();
  // Appends bytes that two operations share if, and only if, the same code computes both: no values, no addresses.
  // After locate().
  void append_key(std::string& key) const;
};

}  // namespace forerun
