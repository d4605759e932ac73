// The structures of DLPack (version 1.1 of its ABI), as far as arrays in host memory use them.
#pragma once
#include <cstdint>

namespace forerun::dlpack {

struct Device {
  int32_t type, id;
};
constexpr int32_t kCpu = 1, kCudaHost = 3, kRocmHost = 11;  // memory that the host can read

struct DataType {
  uint8_t code, bits;
  uint16_t lanes;
};
enum Code : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6 };

struct Tensor {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: C order without gaps
  uint64_t byte_offset;
};

// In a capsule "dltensor".
struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);  // may be null
};

// In a capsule "dltensor_versioned".
struct ManagedVersioned {
  struct {
    uint32_t major, minor;
  } version;
  void* context;
  void (*deleter)(ManagedVersioned*);  // may be null
  uint64_t flags;
  Tensor tensor;
};
constexpr uint32_t kMajor = 1, kMinor = 1;
constexpr uint64_t kReadOnly = 1, kIsCopied = 2;

}  // namespace forerun::dlpack
