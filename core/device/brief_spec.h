// A short form of an operation's description: a device that has code for the operation finds it by this form, without
// the full description (op_spec.h).
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "array/layout.h"
#include "base/dtype.h"
#include "base/shape.h"
#include "engine/operations/op.h"

namespace forerun {

// Kernels of frequent operations write it (Kernel::describe_briefly()); each class begins with its own text. Two
// operations with equal short forms have equal descriptions, except for the values of scalars, which come in the order
// of the inputs.
class BriefSpec {
 public:
  static constexpr size_t kWords = 40, kScalars = 3;
  struct Scalar {
    DType dtype;
    std::array<unsigned char, 16> value;  // padded with zeros
  };

  // The facts that the kernel of an op writes, and the forms of its storages; empty if the kernel has no short form.
  explicit BriefSpec(Op& op) {
    const bool written = op.kernel()->describe_briefly(*this);
    for (int i = 0; written && i < op.n_access; ++i) {
      const Access& access = op.access(i);
      put(uint64_t{access.storage->bytes} << 16 | access.storage->form.dtype << 8 | static_cast<uint8_t>(access.mode));
    }
    if (!written || size_ > kWords || scalars_ > kScalars) size_ = 0;
  }

  // Text that lives as long as the process, represented by its address.
  void put(const char* text) { put(std::bit_cast<uintptr_t>(text)); }
  template <class T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
  void put(T value) {
    if (size_ < kWords) words_[size_] = static_cast<uint64_t>(value);
    ++size_;
  }
  void put(const Dims& dims) {
    put(dims.size());
    for (int i = 0; i < dims.size(); ++i) put(dims[i]);
  }
  void put(const Layout& layout) {
    put(layout.dtype, layout.ndim()), put(layout.offset);
    for (int i = 0; i < layout.ndim(); ++i) put(layout.shape[i]), put(layout.strides[i]);
  }
  // Two small values.
  template <class T, class U>
  void put(T a, U b) {
    put(static_cast<uint64_t>(static_cast<uint8_t>(a)) << 8 | static_cast<uint8_t>(b));
  }
  void scalar(DType dtype, const void* value) {
    if (scalars_ < kScalars) {
      values_[scalars_] = {dtype, {}};
      std::memcpy(values_[scalars_].value.data(), value, item_size(dtype));
    }
    ++scalars_;
  }

  bool empty() const { return size_ == 0; }
  size_t scalars() const { return scalars_; }
  const Scalar& scalar(size_t i) const { return values_[i]; }
  bool operator==(const BriefSpec& other) const {
    return size_ == other.size_ && std::memcmp(words_, other.words_, size_ * sizeof *words_) == 0;
  }
  size_t hash() const {
    uint64_t mixed = size_;
    for (size_t i = 0; i < size_; ++i) mixed += words_[i] * kFactors[i];  // independent terms, which overlap
    return mixed ^ mixed >> 32;
  }

 private:
  // Powers of an odd number.
  static constexpr std::array<uint64_t, kWords> kFactors = [] {
    std::array<uint64_t, kWords> factors{};
    uint64_t power = 1;
    for (uint64_t& factor : factors) factor = power *= 0x9e3779b97f4a7c15u;
    return factors;
  }();

  size_t size_ = 0, scalars_ = 0;
  uint64_t words_[kWords];  // words behind the first size_ are not initialised, nor are scalars
  Scalar values_[kScalars];
};

}  // namespace forerun
