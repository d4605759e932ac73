// Memory on a device that holds the values of one array.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "pjrt/client.h"
#include "pjrt/event.h"

namespace forerun::pjrt {

abi::ElementType element_type(DType dtype);
DType dtype_of(abi::ElementType type);  // throws TypeError for a type that forerun does not have

// Owns a buffer of a plugin, which is ready or will be. Its values never change; an execution may reuse its memory.
class Buffer {
 public:
  // With this alignment a plugin for processors uses host memory directly.
  static constexpr size_t kAlignment = 64;

  Buffer() = default;
  Buffer(const Plugin& plugin, abi::Buffer* raw) : plugin_(&plugin), raw_(raw) {}
  Buffer(Buffer&& o) noexcept : plugin_(o.plugin_), raw_(std::exchange(o.raw_, nullptr)) {}
  Buffer& operator=(Buffer&& o) noexcept {
    std::swap(plugin_, o.plugin_), std::swap(raw_, o.raw_);
    return *this;
  }
  ~Buffer();

  // A copy of host memory in C order, which must not change until `done`. Zero-copy: the memory may be used by the
  // buffer, and must be kept until `done` reports that the buffer is destroyed.
  static Buffer from_host(const Device& device, const void* data, DType dtype, std::span<const int64_t> shape,
                          bool zero_copy, Event& done);

  explicit operator bool() const { return raw_; }
  abi::Buffer* raw() const { return raw_; }
  Event ready() const;
  Event to_host(void* data, size_t bytes) const;  // after the operation that writes the buffer
  Buffer copy_to(const Device& device) const;     // of the same client
  void free_memory();                             // once its readers have ended; the object remains, but is unusable
  void forget() { raw_ = nullptr; }               // in a forked child, where the plugin may not be called
  bool freed() const;                             // whether by free_memory(), or by an execution that took the memory
  size_t bytes() const;
  DType dtype() const;
  std::vector<int64_t> shape() const;
  void* address() const;  // on the device

 private:
  const Plugin* plugin_ = nullptr;
  abi::Buffer* raw_ = nullptr;
};

// The address of a buffer's memory for another library; the memory is kept as long as the object lives.
class ExternalReference {
 public:
  ExternalReference(const Plugin& plugin, const Buffer& buffer);
  ~ExternalReference();
  ExternalReference(const ExternalReference&) = delete;
  void* address() const { return address_; }

 private:
  const Plugin& plugin_;
  abi::Buffer* const raw_;
  void* address_ = nullptr;
};

}  // namespace forerun::pjrt
