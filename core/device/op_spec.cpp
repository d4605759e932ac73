#include "device/op_spec.h"

#include <cstring>
#include <type_traits>

namespace forerun {

namespace {

// Collects bytes, and appends them to a key many at a time: keys are made for each operation that is issued.
class KeyWriter {
 public:
  explicit KeyWriter(std::string& key) : key_(key) {}
  KeyWriter(const KeyWriter&) = delete;
  ~KeyWriter() { key_.append(bytes_, used_); }

  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof bytes_);
    if (sizeof bytes_ - used_ < sizeof value) flush();
    std::memcpy(bytes_ + used_, &value, sizeof value);
    used_ += sizeof value;
  }
  template <class T>
  void put_all(const T* values, size_t n) {
    put(n);
    for (size_t i = 0; i < n; ++i) put(values[i]);
  }
  void put(const std::string& text) { put_all(text.data(), text.size()); }

  void put(const OpSpec::Attribute& attribute) {
    put(static_cast<uint8_t>(attribute.index()));
    std::visit(
        [&](const auto& value) {
          using T = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<T, std::vector<std::string>>) {
            put(value.size());
            for (const std::string& text : value) put(text);
          } else if constexpr (std::is_same_v<T, std::vector<int64_t>> || std::is_same_v<T, std::vector<DType>>) {
            put_all(value.data(), value.size());
          } else if constexpr (!std::is_same_v<T, std::monostate>) {
            put(value);
          }
        },
        attribute);
  }

  void put(const OpSpec::Operand& operand) {
    struct {
      DType dtype, storage_dtype;
      Mode mode;
      uint8_t scalar;
      int32_t axes;
      int64_t storage_size, offset;
    } const all{operand.layout.dtype,  operand.storage_dtype, operand.mode,         operand.access < 0,
                operand.layout.ndim(), operand.storage_size,  operand.layout.offset};
    put(all);
    const int64_t *shape = operand.layout.shape.begin(), *strides = operand.layout.strides.begin();
    for (int i = 0; i < all.axes; ++i) put(shape[i]), put(strides[i]);
  }

 private:
  void flush() {
    key_.append(bytes_, used_);
    used_ = 0;
  }
  std::string& key_;
  size_t used_ = 0;
  char bytes_[512];
};

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
  KeyWriter writer(key);
  writer.put(kind);
  writer.put(name);
  writer.put(static_cast<uint8_t>(inputs.size()));
  for (const Operand& operand : inputs) writer.put(operand);
  for (const Operand& operand : outputs) writer.put(operand);
  for (const auto& [attribute, value] : attributes) writer.put(attribute), writer.put(value);
}

}  // namespace forerun
