// The part of PJRT's C interface that forerun uses: layouts of arguments, and positions in a plugin's table of
// functions.
//
// PJRT is OpenXLA's interface to devices. A plugin is a shared library that exports `GetPjrtApi`, which returns a table
// of functions. Each function takes one structure, whose first field is its size: a plugin that is older than the
// structure reads a prefix of it, one that is newer fills up with zeros. Within major version 0 fields and functions
// have only been appended. `tests/pjrt/test_abi.py` compares this file with the header of a released plugin.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace forerun::pjrt::abi {

inline constexpr int kMajor = 0;
inline constexpr int kMinor = 81;   // the oldest that is accepted
inline constexpr int kSlots = 118;  // functions of that version; a newer table has more

// Objects of plugins: opaque addresses.
struct Error;
struct Event;
struct Client;
struct Device;
struct DeviceDescription;
struct Memory;
struct Topology;
struct Executable;
struct LoadedExecutable;
struct SerializedExecutable;
struct Buffer;
struct ExecuteContext;

struct Extension {
  size_t struct_size;
  int type;
  Extension* next;
};

struct Version {
  size_t struct_size;
  Extension* extension_start;
  int major_version, minor_version;
};

using Function = Error* (*)(void* arguments);

struct Table {
  size_t struct_size;
  Extension* extension_start;
  Version version;
  Function functions[kSlots];
};
using GetTable = const Table* (*)();

enum class Code : int {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  data_loss = 15,
  unauthenticated = 16,
};

enum class NamedValueType : int { string, int64, int64_list, float32, boolean };

struct NamedValue {
  size_t struct_size;
  Extension* extension_start;
  const char* name;
  size_t name_size;
  NamedValueType type;
  union {
    const char* string_value;
    int64_t int64_value;
    const int64_t* int64_array_value;
    float float_value;
    bool bool_value;
  };
  size_t value_size;  // elements of a string or list, else 1
};

enum class ElementType : int { invalid, pred, s8, s16, s32, s64, u8, u16, u32, u64, f16, f32, f64, bf16, c64, c128 };

enum class HostBuffer : int {
  immutable_during_call,  // copied before the call returns
  immutable_until_done,   // may be read until the event `done_with_host_buffer`
  immutable_zero_copy,    // may be the device's memory until the buffer is destroyed, which that event reports
  mutable_zero_copy,
};

struct MemoryLayout;

// The arguments of a function: `kSlot` is its position in the table. The fields that the function writes follow "out".
struct Arguments {
  size_t struct_size;
  Extension* extension_start;
};

struct ErrorDestroy {
  static constexpr int kSlot = 0;
  Arguments head;
  Error* error;
};
struct ErrorMessage {
  static constexpr int kSlot = 1;
  Arguments head;
  const Error* error; /* out */
  const char* message;
  size_t message_size;
};
struct ErrorGetCode {
  static constexpr int kSlot = 2;
  Arguments head;
  const Error* error; /* out */
  Code code;
};

struct PluginInitialize {
  static constexpr int kSlot = 3;
  Arguments head;
};
struct PluginAttributes {
  static constexpr int kSlot = 4;
  Arguments head; /* out */
  const NamedValue* attributes;
  size_t num_attributes;
};

struct EventDestroy {
  static constexpr int kSlot = 5;
  Arguments head;
  Event* event;
};
struct EventIsReady {
  static constexpr int kSlot = 6;
  Arguments head;
  Event* event; /* out */
  bool is_ready;
};
struct EventError {
  static constexpr int kSlot = 7;
  Arguments head;
  Event* event;
};
struct EventAwait {
  static constexpr int kSlot = 8;
  Arguments head;
  Event* event;
};
// The callback owns the error. It may be called during this call, if the event is ready.
struct EventOnReady {
  static constexpr int kSlot = 9;
  Arguments head;
  Event* event;
  void (*callback)(Error* error, void* user_arg);
  void* user_arg;
};

struct ClientCreate {
  static constexpr int kSlot = 10;
  Arguments head;
  const NamedValue* create_options;
  size_t num_options;
  void *kv_get_callback, *kv_get_user_arg, *kv_put_callback, *kv_put_user_arg;  // for several machines
  Client* client;                                                               // out
  void *kv_try_get_callback, *kv_try_get_user_arg;
};
struct ClientDestroy {
  static constexpr int kSlot = 11;
  Arguments head;
  Client* client;
};
struct ClientPlatformName {
  static constexpr int kSlot = 12;
  Arguments head;
  Client* client; /* out */
  const char* platform_name;
  size_t platform_name_size;
};
struct ClientPlatformVersion {
  static constexpr int kSlot = 14;
  Arguments head;
  Client* client; /* out */
  const char* platform_version;
  size_t platform_version_size;
};
struct ClientAddressableDevices {
  static constexpr int kSlot = 16;
  Arguments head;
  Client* client; /* out */
  Device* const* addressable_devices;
  size_t num_addressable_devices;
};

struct Program {
  Arguments head;
  const char* code;
  size_t code_size;
  const char* format;  // "mlir" for StableHLO, as text or bytecode
  size_t format_size;
};
struct ClientCompile {
  static constexpr int kSlot = 20;
  Arguments head;
  Client* client;
  const Program* program;
  const char* compile_options;  // a serialized CompileOptionsProto
  size_t compile_options_size;
  LoadedExecutable* executable;  // out
};

struct ClientBufferFromHostBuffer {
  static constexpr int kSlot = 22;
  Arguments head;
  Client* client;
  const void* data;
  ElementType type;
  const int64_t* dims;
  size_t num_dims;
  const int64_t* byte_strides;  // null: in C order
  size_t num_byte_strides;
  HostBuffer host_buffer_semantics;
  Device* device;
  Memory* memory;                // null: the device's default
  MemoryLayout* device_layout;   // null: in C order
  Event* done_with_host_buffer;  // out
  Buffer* buffer;                // out
};

struct DeviceDescriptionId {
  static constexpr int kSlot = 23;
  Arguments head;
  DeviceDescription* device_description; /* out */
  int id;
};
struct DeviceDescriptionKind {
  static constexpr int kSlot = 26;
  Arguments head;
  DeviceDescription* device_description; /* out */
  const char* device_kind;
  size_t device_kind_size;
};
struct DeviceGetDescription {
  static constexpr int kSlot = 29;
  Arguments head;
  Device* device; /* out */
  DeviceDescription* device_description;
};

// A number that a plugin may not know.
struct OptionalBytes {
  int64_t value;
  bool is_set;
};
struct DeviceMemoryStats {
  static constexpr int kSlot = 34;
  Arguments head;
  Device* device;
  int64_t bytes_in_use;  // all out
  OptionalBytes peak_bytes_in_use, num_allocs, largest_alloc_size, bytes_limit, bytes_reserved, peak_bytes_reserved,
      bytes_reservable_limit, largest_free_block_bytes, pool_bytes, peak_pool_bytes;
};

struct ExecutableDestroy {
  static constexpr int kSlot = 40;
  Arguments head;
  Executable* executable;
};
struct ExecutableNumOutputs {
  static constexpr int kSlot = 44;
  Arguments head;
  Executable* executable; /* out */
  size_t num_outputs;
};
struct ExecutableSerialize {
  static constexpr int kSlot = 49;
  Arguments head;
  const Executable* executable;
  const char* serialized_bytes;  // all out
  size_t serialized_bytes_size;
  SerializedExecutable* serialized_executable;
  void (*serialized_executable_deleter)(SerializedExecutable*);
};

struct LoadedExecutableDestroy {
  static constexpr int kSlot = 50;
  Arguments head;
  LoadedExecutable* executable;
};
struct LoadedExecutableGetExecutable {
  static constexpr int kSlot = 51;
  Arguments head;
  LoadedExecutable* loaded_executable; /* out */
  Executable* executable;
};

struct ExecuteOptions {
  Arguments head;
  void *send_callbacks, *recv_callbacks;
  size_t num_send_ops, num_recv_ops;
  int launch_id;
  const int64_t* non_donatable_input_indices;
  size_t num_non_donatable_input_indices;
  ExecuteContext* context;
  const char* call_location;  // ends with a zero
  size_t num_tasks;
  int* task_ids;
  int64_t* incarnation_ids;
};
struct LoadedExecutableExecute {
  static constexpr int kSlot = 55;
  Arguments head;
  LoadedExecutable* executable;
  ExecuteOptions* options;
  Buffer* const* const* argument_lists;  // one per device
  size_t num_devices, num_args;
  Buffer** const* output_lists;    // out; one per device
  Event** device_complete_events;  // out, one per device; may be null
  Device* execute_device;
};
struct ExecutableDeserializeAndLoad {
  static constexpr int kSlot = 56;
  Arguments head;
  Client* client;
  const char* serialized_executable;
  size_t serialized_executable_size;
  LoadedExecutable* loaded_executable;  // out
  const char* overridden_serialized_compile_options;
  size_t overridden_serialized_compile_options_size;
};

struct BufferDestroy {
  static constexpr int kSlot = 58;
  Arguments head;
  Buffer* buffer;
};
struct BufferElementType {
  static constexpr int kSlot = 59;
  Arguments head;
  Buffer* buffer; /* out */
  ElementType type;
};
struct BufferDimensions {
  static constexpr int kSlot = 60;
  Arguments head;
  Buffer* buffer; /* out */
  const int64_t* dims;
  size_t num_dims;
};
struct BufferOnDeviceSizeInBytes {
  static constexpr int kSlot = 64;
  Arguments head;
  Buffer* buffer; /* out */
  size_t on_device_size_in_bytes;
};
struct BufferDelete {
  static constexpr int kSlot = 67;
  Arguments head;
  Buffer* buffer;
};
struct BufferIsDeleted {
  static constexpr int kSlot = 68;
  Arguments head;
  Buffer* buffer; /* out */
  bool is_deleted;
};
struct BufferCopyToDevice {
  static constexpr int kSlot = 69;
  Arguments head;
  Buffer* buffer;
  Device* dst_device; /* out */
  Buffer* dst_buffer;
};
struct BufferToHostBuffer {
  static constexpr int kSlot = 70;
  Arguments head;
  Buffer* src;
  MemoryLayout* host_layout;
  void* dst;
  size_t dst_size; /* out */
  Event* event;
};
struct BufferReadyEvent {
  static constexpr int kSlot = 72;
  Arguments head;
  Buffer* buffer; /* out */
  Event* event;
};
struct BufferIncreaseExternalReferenceCount {
  static constexpr int kSlot = 74;
  Arguments head;
  Buffer* buffer;
};
struct BufferDecreaseExternalReferenceCount {
  static constexpr int kSlot = 75;
  Arguments head;
  Buffer* buffer;
};
struct BufferOpaqueDeviceMemoryDataPointer {
  static constexpr int kSlot = 76;
  Arguments head;
  Buffer* buffer; /* out */
  void* device_memory_ptr;
};

struct TopologyDescriptionCreate {
  static constexpr int kSlot = 82;
  Arguments head;
  const char* topology_name;
  size_t topology_name_size;
  const NamedValue* create_options;
  size_t num_options; /* out */
  Topology* topology;
};
struct TopologyDescriptionDestroy {
  static constexpr int kSlot = 83;
  Arguments head;
  Topology* topology;
};
struct Compile {
  static constexpr int kSlot = 89;
  Arguments head;
  const Topology* topology;
  const Program* program;
  const char* compile_options;
  size_t compile_options_size;
  Client* client;
  Executable* executable;  // out
};
struct ExecutableGetCompiledMemoryStats {
  static constexpr int kSlot = 96;
  Arguments head;
  Executable* executable;
  int64_t generated_code_size_in_bytes, argument_size_in_bytes, output_size_in_bytes;  // all out
  int64_t alias_size_in_bytes;  // of arguments whose memory results reuse
  int64_t temp_size_in_bytes;
  int64_t host_generated_code_size_in_bytes, host_argument_size_in_bytes, host_output_size_in_bytes,
      host_alias_size_in_bytes, host_temp_size_in_bytes;
  int64_t peak_memory_in_bytes;
};

struct ClientDmaMap {
  static constexpr int kSlot = 110;
  Arguments head;
  Client* client;
  void* data;
  size_t size;
};
struct ClientDmaUnmap {
  static constexpr int kSlot = 111;
  Arguments head;
  Client* client;
  void* data;
};

// Structures are passed with zeros wherever no value is given, between the fields too.
template <class A>
A arguments() {
  A a;
  std::memset(static_cast<void*>(&a), 0, sizeof a);
  const size_t size = sizeof a;
  std::memcpy(static_cast<void*>(&a), &size, sizeof size);
  return a;
}

}  // namespace forerun::pjrt::abi
