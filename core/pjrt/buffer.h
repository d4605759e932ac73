// Memory on a device, with the values of one array in it.
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
DType dtype_of(abi::ElementType type);  // throws TypeError for one that forerun does not have

// Owns a buffer of a plugin: one that is ready, or will be. Its values never change; an execution may take its memory.
class Buffer {
 public:
  // The addresses from which on a plugin for processors uses host memory itself.
  static constexpr size_t kAlignment = 64;

  Buffer() = default;
  Buffer(const Plugin& plugin, abi::Buffer* raw) : plugin_(&plugin), raw_(raw) {}
  Buffer(Buffer&& o) noexcept : plugin_(o.plugin_), raw_(std::exchange(o.raw_, nullptr)) {}
  Buffer& operator=(Buffer&& o) noexcept {
    std::swap(plugin_, o.plugin_), std::swap(raw_, o.raw_);
    return *this;
  }
  ~Buffer();

  // A copy of host memory in C order, which must stay as it is until `done`. Zero-copy: it may be the buffer itself,
  // and must stay until `done` says that the buffer is gone.
  static Buffer from_host(const Device& device, const void* data, DType dtype, std::span<const int64_t> shape,
                          bool zero_copy, Event& done);

  explicit operator bool() const { return raw_; }
  abi::Buffer* raw() const { return raw_; }
  Event ready() const;
  Event to_host(void* data, size_t bytes) const;  // behind what makes the buffer
  Buffer copy_to(const Device& device) const;     // of the same client
  void free_memory();                             // once its readers have ended; the object stays, of no use
  void forget() { raw_ = nullptr; }               // in a child of the process, where the plugin may not be called
  bool freed() const;                             // by free_memory(), or since an execution took the memory
  size_t bytes() const;
  DType dtype() const;
  std::vector<int64_t> shape() const;
  void* address() const;  // on the device

 private:
  const Plugin* plugin_ = nullptr;
  abi::Buffer* raw_ = nullptr;
};

// The address of a buffer's memory for somebody else, for whom it stays as long as this lives.
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
