#include "python/object/array_object.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "array/array.h"
#include "base/error.h"
#include "engine/devices/memory_budget.h"
#include "python/front_end.h"
#include "python/object/node.h"
#include "python/runtime/submission/capture.h"
#include "python/runtime/submission/devices.h"

namespace forerun {

PyTypeObject* array_base = nullptr;
PyTypeObject* array_type = nullptr;
PyTypeObject* scalar_type = nullptr;
PyTypeObject* scalar_types[kDTypes];

const Array& get_array(const char* op, PyObject* o) {
  if (!is_array(o))
    throw Error(ErrorKind::type, std::string(op) + ": operand must be a forerun array, got " + Py_TYPE(o)->tp_name);
  if (!as_array(o)->array.storage())
    throw Error(ErrorKind::runtime, std::string(op) + ": the array's value was not kept");
  return as_array(o)->array;
}

namespace {

constexpr int kFree =
    (8 << 20) / sizeof(ArrayObject);  // as many as free storages are kept (base/containers/free_list.h)
PyObject* free_objects[kFree];        // of classes that free_array handles; guarded by the interpreter lock
int n_free = 0;
// Scalars, each with a storage that is reused as well; guarded likewise.
constexpr int kFreeScalars = 64;
PyObject* free_scalars[kFreeScalars];
constexpr size_t kMostScalarBytes = 16;
int n_free_scalars = 0, n_owners = 0;  // n_owners: all scalars with a storage that is reused
int64_t n_sharing = 0;                 // scalars that share storages
// The storage in which the next scalars beyond those have their values, one after the other; or null. A list of many
// scalars then takes a third of the memory.
Buffer* shared_storage = nullptr;
size_t shared_bytes = 0;   // as many are in use
PyObject* kept_truths[2];  // False and True, as results of comparisons; null until the first one

template <class... Given>
inline PyObject* wrapped_as(PyTypeObject* type, Given&&... array) {
  PyObject* self;
  if (n_free > 0) {
    self = free_objects[--n_free];
    PyObject_Init(self, type);
  } else if (!(self = reinterpret_cast<PyObject*>(PyObject_GC_New(ArrayObject, type)))) {
    return nullptr;
  }
  ArrayObject* a = as_array(self);
  a->weak = a->node = nullptr;
  a->index = 0, a->tracked = a->owner = a->shares = false;
  new (&a->array) Array(std::forward<Given>(array)...);
  a->device = a->array.storage() ? device_of(a->array) : 0;
  return self;
}

// Whether the class has no members beyond those of _core.Array, so that free_array frees its instances.
bool has_no_members(const PyTypeObject* type) { return type->tp_dealloc == exclusive<free_array>; }

bool has_reusable_storage(const ArrayObject& a) {
  const Buffer* storage = a.array.storage();
  return storage && storage->reusable() && storage->bytes <= kMostScalarBytes;
}

// A storage without an op that is to write it.
Buffer* storage_of_scalars(size_t bytes, MemoryBudget* budget) {
  Buffer* storage = Buffer::make(bytes, budget);
  storage->take();
  storage->materialized = true;
  return storage;
}

void drop_shared_storage() {
  if (shared_storage) std::exchange(shared_storage, nullptr)->release_handle();
}

// A scalar with a part of the shared storage.
PyObject* make_sharing_scalar(DType dtype, MemoryBudget* budget) {
  const size_t bytes = std::max<size_t>(item_size(dtype), 8);
  const bool fits = shared_storage && shared_storage->budget == budget;
  if (fits && shared_bytes + bytes > Storage::kInline && shared_storage->reusable())
    shared_bytes = 0;  // all that used it are gone
  if (!fits || shared_bytes + bytes > Storage::kInline) {
    drop_shared_storage();
    shared_storage = storage_of_scalars(Storage::kInline, budget);
    shared_storage->share_among_scalars();
    shared_storage->retain_handle();
    shared_bytes = 0;
  }
  PyObject* self = wrapped_as(scalar_types[static_cast<int>(dtype)], shared_storage, dtype, shared_bytes);
  if (!self) return nullptr;
  shared_bytes += bytes;
  as_array(self)->shares = true, ++n_sharing;
  return self;
}

// A scalar with a storage of its own, for which no free object is left.
PyObject* make_owner(DType dtype, MemoryBudget* budget) {
  Buffer* storage = storage_of_scalars(item_size(dtype), budget);
  PyObject* self = wrapped_as(scalar_types[static_cast<int>(dtype)], storage, dtype, 0);
  if (!self) return storage->retain(), storage->release(), nullptr;
  as_array(self)->owner = true, ++n_owners;
  return self;
}

// A scalar whose value is to be written. Null with an exception set.
PyObject* make_scalar(DType dtype, MemoryBudget* budget) {
  PyTypeObject* type = scalar_types[static_cast<int>(dtype)];
  const size_t bytes = item_size(dtype);
  if (n_free_scalars == 0) {
    const bool shares = n_owners >= kFreeScalars && !capture && !(budget && budget->accelerator);
    return shares ? make_sharing_scalar(dtype, budget) : make_owner(dtype, budget);
  }
  PyObject* self = free_scalars[--n_free_scalars];
  PyObject_Init(self, type);
  ArrayObject* a = as_array(self);
  a->weak = nullptr;
  a->index = 0, a->tracked = false;
  a->array.storage()->reuse(bytes, budget);
  a->array.layout.dtype = dtype, a->array.layout.read_only = false, a->array.layout.offset = 0;
  a->device = device_of(a->array);
  return self;
}

}  // namespace

PyObject* scalar_at_once(DType dtype, MemoryBudget* budget, const void* value) {
  PyObject* self = make_scalar(dtype, budget);
  if (!self) return nullptr;
  const Array& array = as_array(self)->array;
  array.storage()->form.dtype = static_cast<uint8_t>(dtype), array.storage()->form.ndim = 0;
  char* to = array.storage()->data() + array.layout.offset;
  if (const size_t size = item_size(dtype); size == 8)
    std::memcpy(to, value, 8);
  else
    std::memcpy(to, value, size);
  return self;
}

PyObject* truth_at_once(bool value, MemoryBudget* budget) {
  PyObject*& kept = kept_truths[value];
  const bool fits = kept && Py_TYPE(kept) == scalar_types[static_cast<int>(DType::b1)] &&
                    as_array(kept)->array.storage()->budget == budget;
  if (!fits) {
    PyObject* made = scalar_at_once(DType::b1, budget, &value);
    if (!made) return nullptr;
    Py_XSETREF(kept, made);
  }
  return Py_NewRef(kept);
}

void forget_truth(PyObject* scalar) {
  for (PyObject*& kept : kept_truths)
    if (kept == scalar) Py_CLEAR(kept);
}

int visit_array(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(as_array(self)->node);
  return 0;
}

int clear_array(PyObject* self) {
  Py_CLEAR(as_array(self)->node);
  return 0;
}

// Whether Python's collector may find the object in a cycle. A tuple or a dictionary of other objects alone is not
// tracked, as one of NumPy's scalars is not. While operations are recorded, a scalar may still get a node.
int is_collected(PyObject* self) {
  return as_array(self)->tracked || recording || !is_scalar(self) || !has_no_members(Py_TYPE(self));
}

void free_array(PyObject* self) {
  ArrayObject* a = as_array(self);
  if (a->tracked) PyObject_GC_UnTrack(self);
  if (a->weak) PyObject_ClearWeakRefs(self);
  Py_CLEAR(a->node);  // nodes hold their inputs in tuples, which unwind long chains without deep recursion
  PyTypeObject* type = Py_TYPE(self);
  const bool plain = has_no_members(type);
  if (std::exchange(a->shares, false)) --n_sharing;
  const bool reused = plain && is_scalar(self) && n_free_scalars < kFreeScalars && has_reusable_storage(*a);
  if (a->owner != reused) n_owners += reused ? 1 : -1;
  if (a->owner = reused; reused) {
    free_scalars[n_free_scalars++] = self;
  } else if (a->array.~Array(); plain && n_free < kFree) {
    free_objects[n_free++] = self;
  } else {
    PyObject_GC_Del(self);
  }
  Py_DECREF(type);
}

PyObject* wrap(Array array) { return wrapped_as(array_type, std::move(array)); }
PyObject* wrap_result(Array array) {
  PyTypeObject* type = array.layout.shape.empty() ? scalar_types[static_cast<int>(array.layout.dtype)] : array_type;
  return wrapped_as(type, std::move(array));
}

PyObject* wrap_element(Buffer* storage, DType dtype, int64_t offset) {
  return wrapped_as(scalar_types[static_cast<int>(dtype)], storage, dtype, offset);
}

void trim_objects() {
  for (PyObject*& kept : kept_truths) Py_CLEAR(kept);
  while (n_free > 0) PyObject_GC_Del(free_objects[--n_free]);
  while (n_free_scalars > 0) {
    PyObject* self = free_scalars[--n_free_scalars];
    as_array(self)->array.~Array();
    PyObject_GC_Del(self);
    --n_owners;
  }
  drop_shared_storage();
}

int64_t kept_with_storage() {
  int64_t n = n_free_scalars + Buffer::n_of_scalars() - n_sharing;
  for (PyObject* kept : kept_truths) n += kept != nullptr;
  return n;
}

void set_node(ArrayObject* array, PyObject* node, int64_t index) {
  Py_XSETREF(array->node, Py_XNewRef(node));
  array->index = index;
  auto* self = reinterpret_cast<PyObject*>(array);
  if (!node || array->tracked) return;
  array->tracked = true;
  PyObject_GC_Track(self);
}

void refuse_write(const char* op, const Array& array) {
  const Layout& l = array.layout;
  auto error = [&](const char* must, const char* got) {
    return Error(ErrorKind::value,
                 std::string(op) + ": destination must " + must + ", got " + got + " of shape " + to_string(l.shape));
  };
  for (int i = 0; i < l.ndim() && l.size > 0; ++i)
    if (l.strides[i] == 0 && l.shape[i] > 1) throw error("not repeat elements", "a broadcast view");
  if (l.read_only) throw error("be writable", "a read-only view");
  throw error("not have elements that share memory", "windows that overlap");
}

}  // namespace forerun
