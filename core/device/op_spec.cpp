#include "device/op_spec.h"

#include <cstring>
#include <type_traits>

namespace forerun {

namespace {

template <class T>
void put(std::string& key, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_text(std::string& key, const std::string& text) {
  put(key, text.size());
  key += text;
}

template <class T>
void put_all(std::string& key, const T* values, size_t n) {
  key.append(reinterpret_cast<const char*>(values), n * sizeof(T));
}

void put_attribute(std::string& key, const OpSpec::Attribute& attribute) {
  put(key, static_cast<uint8_t>(attribute.index()));
  std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::string>) {
          put_text(key, value);
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          put(key, value.size());
          for (const std::string& text : value) put_text(key, text);
        } else if constexpr (std::is_same_v<T, std::vector<int64_t>> || std::is_same_v<T, std::vector<DType>>) {
          put(key, value.size());
          put_all(key, value.data(), value.size());
        } else if constexpr (!std::is_same_v<T, std::monostate>) {
          put(key, value);
        }
      },
      attribute);
}

void put_operand(std::string& key, const OpSpec::Operand& operand) {
  struct {
    DType dtype, storage_dtype;
    Mode mode;
    uint8_t scalar;
    int32_t axes;
    int64_t storage_size, offset;
  } const all{operand.layout.dtype,  operand.storage_dtype, operand.mode,         operand.access < 0,
              operand.layout.ndim(), operand.storage_size,  operand.layout.offset};
  put(key, all);
  const auto axes = static_cast<size_t>(all.axes);
  put_all(key, operand.layout.shape.begin(), axes);
  put_all(key, operand.layout.strides.begin(), axes);
}

}  // namespace

void OpSpec::scalar(DType dtype, const void* value) {
  Operand& made = inputs.emplace_back();
  made.layout.dtype = dtype;
  std::memcpy(made.value, value, item_size(dtype));
}

void OpSpec::locate(Op& op) {
  for (auto* operands : {&inputs, &outputs})
    for (Operand& operand : *operands) {
      if (operand.access < 0) continue;
      const Access& access = op.access(operand.access);
      operand.storage_dtype = dtype_of_storage(*access.storage);
      operand.storage_size = static_cast<int64_t>(access.storage->bytes / item_size(operand.storage_dtype));
      operand.mode = access.mode;
    }
}

void OpSpec::append_key(std::string& key) const {
  put(key, kind);
  put_text(key, name);
  put(key, static_cast<uint8_t>(inputs.size()));
  for (const Operand& operand : inputs) put_operand(key, operand);
  for (const Operand& operand : outputs) put_operand(key, operand);
  for (const auto& [attribute, value] : attributes) put(key, attribute), put_attribute(key, value);
}

}  // namespace forerun
