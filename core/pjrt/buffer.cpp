#include "pjrt/buffer.h"

#include <string>

namespace forerun::pjrt {

namespace {

using abi::ElementType;
constexpr ElementType kElementTypes[kDTypes] = {
    ElementType::pred, ElementType::s8,  ElementType::s16, ElementType::s32, ElementType::s64,
    ElementType::u8,   ElementType::u16, ElementType::u32, ElementType::u64, ElementType::f16,
    ElementType::bf16, ElementType::f32, ElementType::f64, ElementType::c64, ElementType::c128};

}  // namespace

ElementType element_type(DType dtype) { return kElementTypes[static_cast<int>(dtype)]; }

DType dtype_of(ElementType type) {
  for (int i = 0; i < kDTypes; ++i)
    if (kElementTypes[i] == type) return static_cast<DType>(i);
  throw Error(ErrorKind::type, "pjrt: the element type of a buffer must be one of forerun's, got number " +
                                   std::to_string(static_cast<int>(type)) + " of the interface");
}

Buffer::~Buffer() {
  if (!raw_) return;
  auto a = abi::arguments<abi::BufferDestroy>();
  a.buffer = raw_, plugin_->give_back(a);
}

Buffer Buffer::from_host(const Device& device, const void* data, DType dtype, std::span<const int64_t> shape,
                         bool zero_copy, Event& done) {
  const Client& client = device.client();
  client.check_process();
  auto a = abi::arguments<abi::ClientBufferFromHostBuffer>();
  a.client = client.raw(), a.device = device.raw();
  a.data = data, a.type = element_type(dtype), a.dims = shape.data(), a.num_dims = shape.size();
  a.host_buffer_semantics = zero_copy ? abi::HostBuffer::immutable_zero_copy : abi::HostBuffer::immutable_until_done;
  client.plugin().call(a);
  done = Event(client.plugin(), a.done_with_host_buffer);
  return {client.plugin(), a.buffer};
}

Event Buffer::ready() const {
  auto a = abi::arguments<abi::BufferReadyEvent>();
  a.buffer = raw_, plugin_->call(a);
  return {*plugin_, a.event};
}

Event Buffer::to_host(void* data, size_t bytes) const {
  auto a = abi::arguments<abi::BufferToHostBuffer>();
  a.src = raw_, a.dst = data, a.dst_size = bytes;
  plugin_->call(a);
  return {*plugin_, a.event};
}

Buffer Buffer::copy_to(const Device& device) const {
  device.client().check_process();
  auto a = abi::arguments<abi::BufferCopyToDevice>();
  a.buffer = raw_, a.dst_device = device.raw();
  plugin_->call(a);
  return {*plugin_, a.dst_buffer};
}

void Buffer::free_memory() {
  auto a = abi::arguments<abi::BufferDelete>();
  a.buffer = raw_, plugin_->call(a);
}

bool Buffer::freed() const {
  auto a = abi::arguments<abi::BufferIsDeleted>();
  a.buffer = raw_, plugin_->call(a);
  return a.is_deleted;
}

size_t Buffer::bytes() const {
  auto a = abi::arguments<abi::BufferOnDeviceSizeInBytes>();
  a.buffer = raw_, plugin_->call(a);
  return a.on_device_size_in_bytes;
}

DType Buffer::dtype() const {
  auto a = abi::arguments<abi::BufferElementType>();
  a.buffer = raw_, plugin_->call(a);
  return dtype_of(a.type);
}

std::vector<int64_t> Buffer::shape() const {
  auto a = abi::arguments<abi::BufferDimensions>();
  a.buffer = raw_, plugin_->call(a);
  return {a.dims, a.dims + a.num_dims};
}

void* Buffer::address() const {
  auto a = abi::arguments<abi::BufferOpaqueDeviceMemoryDataPointer>();
  a.buffer = raw_, plugin_->call(a);
  return a.device_memory_ptr;
}

ExternalReference::ExternalReference(const Plugin& plugin, const Buffer& buffer) : plugin_(plugin), raw_(buffer.raw()) {
  auto a = abi::arguments<abi::BufferIncreaseExternalReferenceCount>();
  a.buffer = raw_, plugin_.call(a);
  address_ = buffer.address();
}

ExternalReference::~ExternalReference() {
  auto a = abi::arguments<abi::BufferDecreaseExternalReferenceCount>();
  a.buffer = raw_, plugin_.give_back(a);
}

}  // namespace forerun::pjrt
