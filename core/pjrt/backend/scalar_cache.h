// Numbers on a device, for operations that use the same ones repeatedly.
#pragma once
#include <array>
#include <cstring>
#include <list>
#include <mutex>
#include <unordered_map>

#include "pjrt/buffer.h"

namespace forerun::pjrt {

// One number of any dtype.
struct Scalar {
  DType dtype;
  alignas(16) std::array<unsigned char, 16> value{};
  bool operator==(const Scalar&) const = default;
};

// The numbers of one device that were used last. Any thread.
class ScalarCache {
 public:
  explicit ScalarCache(const Device& device) : device_(device) {}
  // The number as a tensor without axes, which is ready or will be.
  std::shared_ptr<const Buffer> get(const Scalar& scalar);
  // The same for a number that is not worth keeping, and must not change until `done`.
  static Buffer make(const Device& device, const Scalar& scalar, Event& done) {
    return Buffer::from_host(device, scalar.value.data(), scalar.dtype, {}, false, done);
  }

 private:
  static constexpr size_t kMost = 256;
  struct Hash {
    size_t operator()(const Scalar& s) const {
      uint64_t words[2];
      std::memcpy(words, s.value.data(), sizeof words);
      return (words[0] * 0x9e3779b97f4a7c15u ^ words[1]) + static_cast<size_t>(s.dtype);
    }
  };
  struct Known {
    Scalar scalar;
    std::shared_ptr<const Buffer> buffer;
  };
  const Device& device_;
  std::mutex mutex_;
  std::list<Known> known_;  // the one used last in front
  std::unordered_map<Scalar, std::list<Known>::iterator, Hash> places_;
};

}  // namespace forerun::pjrt
