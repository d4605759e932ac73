#include "device/op_spec.h"

#include <cstring>
#include <type_traits>

namespace forerun {

namespace {

// Writes keys, one for each operation that is issued: a first pass counts the bytes, a second one writes them.
class KeyWriter {
 public:
  // at: null, to count.
  explicit KeyWriter(char* at) : at_(at) {}
  size_t bytes() const { return bytes_; }

  void put(const void* from, size_t n) {
    if (at_) std::memcpy(at_ + bytes_, from, n);
    bytes_ += n;
  }
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(&value, sizeof value);
  }
  template <class T>
  void put_all(const T* values, size_t n) {
    put(n), put(static_cast<const void*>(values), n * sizeof(T));
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
    } const all{operand.layout.dtype,
                operand.storage_dtype,
                operand.mode,
                operand.access < 0,
                operand.layout.ndim(),
                operand.storage_size,
                operand.moves ? -1 : operand.layout.offset};
    put(all);
    const int64_t *shape = operand.layout.shape.begin(), *strides = operand.layout.strides.begin();
    for (int i = 0; i < all.axes; ++i) put(shape[i]), put(strides[i]);
  }

  void put(const OpSpec& spec) {
    put(spec.kind);
    put(spec.name);
    put(static_cast<uint8_t>(spec.inputs.size()));
    for (const OpSpec::Operand& operand : spec.inputs) put(operand);
    for (const OpSpec::Operand& operand : spec.outputs) put(operand);
    for (const auto& [attribute, value] : spec.attributes) put(attribute), put(value);
  }

 private:
  char* const at_;
  size_t bytes_ = 0;
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

void OpSpec::separate_offsets() {
  std::vector<int64_t> starts;
  for (auto* operands : {&inputs, &outputs})
    for (Operand& operand : *operands) {
      const Layout& layout = operand.layout;
      const auto size = static_cast<int64_t>(item_size(layout.dtype));
      operand.moves = operand.access >= 0 && layout.dtype == operand.storage_dtype && layout.size > 0 &&
                      layout.size < operand.storage_size && layout.offset % size == 0 && layout.contiguous();
      if (operand.moves) starts.push_back(layout.offset / size);
    }
  for (const int64_t start : starts) scalar(DType::i64, &start);
}

void OpSpec::append_key(std::string& key) const {
  KeyWriter count(nullptr);
  count.put(*this);
  const size_t before = key.size();
  key.resize(before + count.bytes());
  KeyWriter(key.data() + before).put(*this);
}

}  // namespace forerun
