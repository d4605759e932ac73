// Arrays exported to other libraries, and imported from them, without a copy: DLPack.
#include "python/object/conversion/dlpack.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "array/array.h"
#include "engine/devices/memory_budget.h"
#include "python/bindings.h"
#include "python/object/array_arguments.h"
#include "python/object/conversion/numpy_interop.h"
#include "python/object/conversion/numpy_memory.h"
#include "python/object/create.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/interpreter/deferred_release.h"
#include "python/runtime/submission/accelerators.h"
#include "python/runtime/submission/capture.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/wait.h"

namespace forerun {

namespace {

[[noreturn]] void refuse(const std::string& why) {
  PyErr_SetString(PyExc_BufferError, why.c_str());
  throw PythonError{};
}

dlpack::DataType type_of(DType t) {
  dlpack::Code code = t == DType::b1     ? dlpack::kBool
                      : t == DType::bf16 ? dlpack::kBfloat
                      : is_complex(t)    ? dlpack::kComplex
                      : is_real_float(t) ? dlpack::kFloat
                      : is_signed(t)     ? dlpack::kInt
                                         : dlpack::kUInt;
  return {code, static_cast<uint8_t>(item_size(t) * 8), 1};
}

DType type_from(dlpack::DataType type) {
  for (int i = 0; i < kDTypes; ++i) {
    dlpack::DataType known = type_of(static_cast<DType>(i));
    if (known.code == type.code && known.bits == type.bits && type.lanes == 1) return static_cast<DType>(i);
  }
  refuse("from_dlpack: dtype must be one that arrays can have, got code " + std::to_string(type.code) + " with " +
         std::to_string(type.bits) + " bits and " + std::to_string(type.lanes) + " lanes");
}

// --- export ----------------------------------------------------------------------------------------------------------

// The contents of a capsule. The block keeps the values as long as a consumer has them.
template <class T>
struct Export {
  T managed{};
  Block* block = nullptr;
  Dims shape, strides;

  static constexpr bool kVersioned = std::is_same_v<T, dlpack::ManagedVersioned>;
  static constexpr const char* kName = kVersioned ? "dltensor_versioned" : "dltensor";

  Export(const Array& array, uint64_t flags)
      : block(array.storage()->share()), shape(array.layout.shape), strides(array.layout.strides) {
    managed.context = this;
    managed.deleter = [](T* self) { delete static_cast<Export*>(self->context); };
    if constexpr (kVersioned) managed.version = {dlpack::kMajor, dlpack::kMinor}, managed.flags = flags;
    for (int64_t& step : strides) step /= static_cast<int64_t>(item_size(array.layout.dtype));
    managed.tensor = {block->data + array.layout.offset,
                      {dlpack::kCpu, 0},
                      shape.size(),
                      type_of(array.layout.dtype),
                      shape.begin(),
                      strides.begin(),
                      0};
  }
  ~Export() { block->release(); }

  // A consumer that takes the tensor of a capsule renames the capsule.
  static void end(PyObject* capsule) {
    if (!PyCapsule_IsValid(capsule, kName)) return;
    auto* left = static_cast<T*>(PyCapsule_GetPointer(capsule, kName));
    left->deleter(left);
  }
  static nb::object capsule(const Array& array, uint64_t flags) {
    auto made = std::make_unique<Export>(array, flags);
    nb::object capsule = checked(PyCapsule_New(&made->managed, kName, end));
    made.release();
    return capsule;
  }
};

nb::object to_dlpack(nb::handle a, bool versioned, bool copy) {
  const Array& array = arg("__dlpack__", a);
  for (int64_t step : array.layout.strides)
    if (step % static_cast<int64_t>(item_size(array.layout.dtype)))
      refuse("__dlpack__: strides must be multiples of the size of an element");
  if (!on_host(array))
    refuse("__dlpack__: the array must be in the memory of the host, got " + device_name(device_of(array)) +
           "; copy it with x.to_device('cpu')");
  wait_for(array);
  copy = copy || (bytes_as_bools && !only_bools(array.layout, array.storage()->data()));
  uint64_t flags = copy ? dlpack::kIsCopied : dlpack::kReadOnly;
  Array given = copy ? from_object("__dlpack__", checked(shared_view(array)).ptr(), device_of(array)) : array;
  return versioned ? Export<dlpack::ManagedVersioned>::capsule(given, flags)
                   : Export<dlpack::Managed>::capsule(given, flags);
}

// --- import ----------------------------------------------------------------------------------------------------------

// A tensor of another library; its deleter is called when it is no longer needed, with the interpreter lock, which the
// deleter may need.
template <class T>
struct Import : DeferredRelease {
  T* managed;
  explicit Import(T* managed) : DeferredRelease(finish), managed(managed) {}
  static void finish(DeferredRelease* what) {
    auto* self = static_cast<Import*>(what);
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (self->managed->deleter) self->managed->deleter(self->managed);
    PyErr_Restore(type, value, trace);
    delete self;
  }
  static void drop(void* self) { release_under_gil_later(static_cast<Import*>(self)); }
};

struct Extent {
  Layout layout;
  int64_t low = 0, high = 0;  // bytes from the first element to the lowest one, and to the end of the highest
};

Extent extent_of(const dlpack::Tensor& tensor) {
  if (tensor.device.type != dlpack::kCpu && tensor.device.type != dlpack::kCudaHost &&
      tensor.device.type != dlpack::kRocmHost)
    refuse("from_dlpack: memory must be the host's, got device type " + std::to_string(tensor.device.type));
  if (tensor.ndim < 0 || tensor.ndim > kMaxDims)
    refuse("from_dlpack: arrays must have at most 64 dimensions, got " + std::to_string(tensor.ndim));
  Extent e;
  DType t = type_from(tensor.dtype);
  auto item = static_cast<int64_t>(item_size(t));
  Dims shape(tensor.ndim);
  int64_t size = 1, low = 0, high = 0;
  bool empty = false, fits = true;
  for (int i = 0; i < tensor.ndim; ++i) {
    if ((shape[i] = tensor.shape[i]) < 0)
      refuse("from_dlpack: extents must not be negative, got " + std::to_string(tensor.shape[i]));
    empty = empty || shape[i] == 0;
  }
  int64_t bytes;
  auto check_fits = [&] {
    if (!fits || __builtin_mul_overflow(size, item, &bytes))
      refuse("from_dlpack: elements must fit into the address space, got shape " + to_string(shape));
  };
  for (int64_t n : shape) fits = fits && !__builtin_mul_overflow(size, empty ? 1 : n, &size);
  check_fits();
  e.layout = Layout::dense(t, shape);
  for (int i = 0; i < tensor.ndim && tensor.strides && !empty; ++i) {
    int64_t step, reach = 0;
    fits = fits && !__builtin_mul_overflow(tensor.strides[i], item, &step) &&
           !__builtin_mul_overflow(step, shape[i] - 1, &reach);
    if (fits) e.layout.strides[i] = step;
    fits = fits && !__builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high);
  }
  check_fits();
  e.low = low, e.high = empty ? 0 : (tensor.strides ? high + item : bytes);
  if (!empty && !tensor.data) refuse("from_dlpack: elements must have memory, got none for shape " + to_string(shape));
  return e;
}

// A numpy array on the tensor's memory, valid as long as the tensor.
nb::object view_of(const Extent& e, char* first) { return checked(numpy_view(e.layout, first, false, nullptr)); }

bool aligned(const char* p, DType t) {
  return reinterpret_cast<uintptr_t>(p) % (is_complex(t) ? item_size(t) / 2 : item_size(t)) == 0;
}

template <class T>
nb::object taken(nb::handle capsule, int device, int copy, const char* name, const char* used) {
  auto* managed = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (!managed) throw PythonError{};
  auto owner = std::make_unique<Import<T>>(managed);
  if (PyCapsule_SetName(capsule.ptr(), used) < 0) throw PythonError{};
  struct Finish {
    std::unique_ptr<Import<T>>& owner;
    ~Finish() {
      if (owner) Import<T>::finish(owner.release());
    }
  } finish{owner};
  if constexpr (std::is_same_v<T, dlpack::ManagedVersioned>)
    if (managed->version.major != dlpack::kMajor)
      refuse("from_dlpack: version of DLPack must be 1, got " + std::to_string(managed->version.major) + "." +
             std::to_string(managed->version.minor));
  Extent e = extent_of(managed->tensor);
  char* first = static_cast<char*>(managed->tensor.data) + managed->tensor.byte_offset;
  const bool bools = e.layout.size == 0 || only_bools(e.layout, first);
  bool must = e.layout.size == 0 || !aligned(first, e.layout.dtype) || !bools;
  if (!bools && copy == 0)
    refuse("from_dlpack: bools must be bytes of 0 or 1 to be shared, got others with copy=False");
  if (must && copy == 0 && e.layout.size) refuse("from_dlpack: elements must be aligned to be shared, got copy=False");
  if (copy == 0 && host_budget_of(device)->device != device)
    refuse("from_dlpack: copy must not be False for the memory of " + device_name(device));
  if (must || copy == 1) return wrapped(from_object("from_dlpack", view_of(e, first).ptr(), device));
  // Broadcast tensors stay read-only, and so do overlapping windows that the producer marks: as a whole and in parts.
  bool broadcast = false, marked = false;
  for (int i = 0; i < e.layout.ndim(); ++i)
    broadcast = broadcast || (e.layout.strides[i] == 0 && e.layout.shape[i] > 1);
  if constexpr (std::is_same_v<T, dlpack::ManagedVersioned>) marked = managed->flags & dlpack::kReadOnly;
  e.layout.read_only = broadcast || (marked && e.layout.overlaps_itself());
  auto bytes = static_cast<size_t>(e.high - e.low);
  e.layout.offset = -e.low;
  Array array(Buffer::make(bytes, host_budget_of(device)), e.layout);
  array.storage()->adopt(new Block{first + e.low, bytes, nullptr, 1, Import<T>::drop, owner.get()});
  owner.release();
  array.storage()->materialized = true;
  if (device_of(array) != device) return wrapped(copied(with_values(std::move(array)), e.layout.dtype, device));
  return wrapped(with_values(std::move(array)));
}

// copy: 1 yes, 0 never, -1 if necessary.
nb::object from_dlpack(nb::handle capsule, nb::handle device, int copy) {
  run_deferred_releases();  // other threads may wait for their memory
  int d = device_index("from_dlpack", device);
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned"))
    return taken<dlpack::ManagedVersioned>(capsule, d, copy, "dltensor_versioned", "used_dltensor_versioned");
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor"))
    return taken<dlpack::Managed>(capsule, d, copy, "dltensor", "used_dltensor");
  PyErr_Format(PyExc_ValueError, "from_dlpack: __dlpack__ must return an unused capsule, got %R", capsule.ptr());
  throw PythonError{};
}

}  // namespace

void init_dlpack(Module& m) {
  m.def("to_dlpack", to_dlpack, nb::arg("a"), nb::arg("versioned"), nb::arg("copy"),
        "A capsule with the values: read-only, or a copy. Waits.");
  m.def("from_dlpack", from_dlpack, nb::arg("capsule"), nb::arg("device").none(), nb::arg("copy"),
        "An array on the memory of a capsule's tensor. copy: 1 yes, 0 never, -1 if necessary.");
}

}  // namespace forerun
