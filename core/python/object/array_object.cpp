#include "python/object/array_object.h"

#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "array/array.h"
#include "base/error.h"
#include "python/front_end.h"
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
int n_free_scalars = 0;
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
  a->index = 0, a->tracked = false;
  new (&a->array) Array(std::forward<Given>(array)...);
  a->device = a->array.storage() ? device_of(a->array) : 0;
  return self;
}

bool has_reusable_storage(const ArrayObject& a) { return a.array.storage() && a.array.storage()->reusable(); }

// A scalar whose value is to be written. Null with an exception set.
PyObject* make_scalar(DType dtype, MemoryBudget* budget) {
  PyTypeObject* type = scalar_types[static_cast<int>(dtype)];
  const size_t bytes = item_size(dtype);
  if (n_free_scalars == 0) {
    Buffer* storage = Buffer::make(bytes, budget);
    storage->take();
    storage->materialized = true;
    PyObject* self = wrapped_as(type, storage, dtype, 0);
    if (!self) storage->retain(), storage->release();
    return self;
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
  Buffer& storage = *as_array(self)->array.storage();
  storage.form.dtype = static_cast<uint8_t>(dtype), storage.form.ndim = 0;
  if (const size_t size = item_size(dtype); size == 8)
    std::memcpy(storage.data(), value, 8);
  else
    std::memcpy(storage.data(), value, size);
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

void free_array(PyObject* self) {
  ArrayObject* a = as_array(self);
  if (a->tracked) PyObject_GC_UnTrack(self);
  if (a->weak) PyObject_ClearWeakRefs(self);
  Py_CLEAR(a->node);  // nodes hold their inputs in tuples, which unwind long chains without deep recursion
  PyTypeObject* type = Py_TYPE(self);
  const bool plain = type->tp_dealloc == exclusive<free_array>;
  if (plain && is_scalar(self) && n_free_scalars < kFreeScalars && has_reusable_storage(*a)) {
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
  }
}

int64_t kept_with_storage() {
  int64_t n = n_free_scalars;
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
