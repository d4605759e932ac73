#include "python/object/array_object.h"

#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include "array/array.h"
#include "base/error.h"
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
    (8 << 20) / sizeof(ArrayObject);  // as many as there may be of their storages (base/containers/free_list.h)
PyObject* free_objects[kFree];        // of classes that free_array takes apart; guarded by the interpreter lock
int n_free = 0;

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

}  // namespace

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
  a->array.~Array();
  PyTypeObject* type = Py_TYPE(self);
  if (type->tp_dealloc == free_array && n_free < kFree)
    free_objects[n_free++] = self;
  else
    PyObject_GC_Del(self);
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
  while (n_free > 0) PyObject_GC_Del(free_objects[--n_free]);
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
