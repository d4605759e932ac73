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

void put_dims(std::string& key, const Dims& dims) {
  put(key, static_cast<uint8_t>(dims.size()));
  key.append(reinterpret_cast<const char*>(dims.begin()), static_cast<size_t>(dims.size()) * sizeof(int64_t));
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
          for (auto one : value) put(key, one);
        } else if constexpr (!std::is_same_v<T, std::monostate>) {
          put(key, value);
        }
      },
      attribute);
}

void put_operand(std::string& key, const OpSpec::Operand& operand) {
  put(key, static_cast<uint8_t>(operand.layout.dtype));
  if (operand.access < 0) return put(key, uint8_t{255});
  put(key, static_cast<uint8_t>(operand.mode));
  put(key, static_cast<uint8_t>(operand.storage_dtype));
  put(key, operand.storage_size);
  put(key, operand.layout.offset);
  put_dims(key, operand.layout.shape);
  put_dims(key, operand.layout.strides);
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
