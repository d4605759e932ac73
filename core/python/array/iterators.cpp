#include "python/array/iterators.h"

#include <structmember.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "array/array.h"
#include "python/array/indexing.h"
#include "python/bindings.h"
#include "python/direct/indexing/index.h"
#include "python/front_end.h"
#include "python/object/array_object.h"
#include "python/object/create.h"
#include "python/object/node.h"
#include "python/object/plain.h"
#include "python/object/scalar.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/submission/capture.h"

namespace forerun {

namespace {

PyTypeObject *elements_type = nullptr, *flat_type = nullptr;

// --- iter(x) ---------------------------------------------------------------------------------------------------------

// Elements of a vector are copied some at a time into one storage, as many as the object itself holds. The result
// equals copying one by one as long as nothing has been written to the array.
struct Elements {
  PyObject_HEAD PyObject* array;  // null: the end has been reached
  Py_ssize_t at;                  // the next element
  Py_ssize_t first, end;          // the range of copied elements
  uint32_t issued;                // writes of the array's storage when they were copied
  Array copied;
};
Elements* as_elements(PyObject* o) { return reinterpret_cast<Elements*>(o); }

bool copy_some(Elements* e) {
  const Array& a = as_array(e->array)->array;
  if (a.layout.ndim() != 1 || !a.storage() || on_tape(e->array) || capture) return false;
  const Buffer& from = *a.storage();
  if (!from.settled() || from.failure || !from.taken() || !from.unshared()) return false;
  const auto size = static_cast<Py_ssize_t>(item_size(a.layout.dtype));
  const Py_ssize_t n =
      std::min(static_cast<Py_ssize_t>(Storage::kInline) / size, static_cast<Py_ssize_t>(a.layout.size) - e->at);
  Buffer* to = Buffer::make(static_cast<size_t>(n * size), from.budget);
  e->copied = Array(to, a.layout.dtype, 0);
  to->form.dtype = static_cast<uint8_t>(a.layout.dtype), to->form.ndim = 0;
  to->take();
  to->materialized = true;
  const char* element = from.data() + a.layout.offset + e->at * a.layout.strides[0];
  for (Py_ssize_t i = 0; i < n; ++i, element += a.layout.strides[0])
    std::memcpy(to->data() + i * size, element, static_cast<size_t>(size));
  e->first = e->at, e->end = e->at + n, e->issued = from.issued.load(std::memory_order_relaxed);
  return true;
}

bool is_copied(const Elements* e) {
  const Buffer* from = as_array(e->array)->array.storage();
  return e->at < e->end && from && from->issued.load(std::memory_order_relaxed) == e->issued && !on_tape(e->array) &&
         !capture;
}

PyObject* next_element(PyObject* self) {
  Elements* e = as_elements(self);
  if (!e->array) return nullptr;
  const Array& a = as_array(e->array)->array;
  if (e->at >= a.layout.shape[0]) {
    Py_CLEAR(e->array);
    e->copied = Array();
    return nullptr;
  }
  PyObject* found = nullptr;
  if (is_copied(e) || copy_some(e))
    found = wrap_element(e->copied.storage(), a.layout.dtype,
                         (e->at - e->first) * static_cast<int64_t>(item_size(a.layout.dtype)));
  else
    found = sequence_item(e->array, e->at);
  if (found) ++e->at;
  return found;
}

PyObject* how_many(PyObject* self, PyObject*) {
  const Elements* e = as_elements(self);
  return PyLong_FromSsize_t(e->array ? static_cast<Py_ssize_t>(as_array(e->array)->array.layout.shape[0]) - e->at : 0);
}

int visit_elements(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(as_elements(self)->array);
  return 0;
}

int clear_elements(PyObject* self) {
  Py_CLEAR(as_elements(self)->array);
  return 0;
}

void end_elements(PyObject* self) {
  PyObject_GC_UnTrack(self);
  clear_elements(self);
  as_elements(self)->copied.~Array();
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

#define FN(f) reinterpret_cast<void*>(f)
PyMethodDef element_methods[] = {{"__length_hint__", exclusive<how_many>, METH_NOARGS, nullptr}, {}};
PyType_Slot element_slots[] = {
    {Py_tp_doc, const_cast<char*>("Goes through an array along its first axis.")},
    {Py_tp_iter, FN(PyObject_SelfIter)},
    {Py_tp_iternext, FN(exclusive<next_element>)},
    {Py_tp_methods, element_methods},
    {Py_tp_traverse, FN(visit_elements)},
    {Py_tp_clear, FN(exclusive<clear_elements>)},
    {Py_tp_dealloc, FN(exclusive<end_elements>)},
    {},
};
PyType_Spec element_spec = {"forerun._core.Elements", sizeof(Elements), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, element_slots};

// --- x.flat ----------------------------------------------------------------------------------------------------------

struct Flat {
  PyObject_HEAD PyObject* base;
  Py_ssize_t index;  // of the next element
};
Flat* as_flat(PyObject* o) { return reinterpret_cast<Flat*>(o); }

PyObject* make_flat(PyTypeObject* type, PyObject* base) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self) as_flat(self)->base = Py_NewRef(base);
  return self;
}

PyObject* new_flat(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"base", nullptr};
  PyObject* base;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O", const_cast<char**>(names), &base)) return nullptr;
  if (is_array(base)) return make_flat(type, base);
  return PyErr_Format(PyExc_TypeError, "flat: base must be a forerun array, got %s", Py_TYPE(base)->tp_name);
}

// The offset of element i of an array, in C order.
int64_t offset_of(const Layout& l, int64_t i) {
  if (l.contiguous()) return l.offset + i * static_cast<int64_t>(item_size(l.dtype));
  return l.offset + offset_at(i, l.shape, l.strides);
}

// Whether an int selects an element of a plain array; and its offset.
bool names_place(PyObject* self, PyObject* index, int64_t* offset) {
  const Array* a = plain_int(index) ? plain_array(as_flat(self)->base) : nullptr;
  if (!a) return false;
  int beyond = 0;
  const long long i = PyLong_AsLongLongAndOverflow(index, &beyond), n = a->layout.size;
  if (beyond || i < -n || i >= n) return false;
  *offset = offset_of(a->layout, i < 0 ? i + n : i);
  return true;
}

PyObject* read_flat(PyObject* self, PyObject* index) {
  int64_t offset;
  if (!names_place(self, index, &offset)) return PyObject_CallMethod(self, "_read", "(O)", index);
  return guarded([&] { return element(as_array(as_flat(self)->base)->array, offset); });
}

int write_flat(PyObject* self, PyObject* index, PyObject* value) {
  if (!value) return PyErr_SetString(PyExc_TypeError, "flat: array elements cannot be deleted"), -1;
  int64_t offset;
  PyObject* base = as_flat(self)->base;
  const bool plain = names_place(self, index, &offset) && as_array(base)->array.writable() && !on_tape(base);
  if (plain && put_at_once(base, offset, value)) return 0;
  PyObject* done = PyObject_CallMethod(self, "_write", "(OO)", index, value);
  Py_XDECREF(done);
  return done ? 0 : -1;
}

Py_ssize_t flat_length(PyObject* self) {
  return static_cast<Py_ssize_t>(as_array(as_flat(self)->base)->array.layout.size);
}

PyObject* next_flat(PyObject* self) {
  Flat* f = as_flat(self);
  if (f->index < 0 || f->index >= flat_length(self)) return nullptr;
  const Array& a = as_array(f->base)->array;
  PyObject* found = nullptr;
  if (a.storage() && !on_tape(f->base)) {
    found = guarded([&] { return element(a, offset_of(a.layout, f->index)); });
  } else if (PyObject* index = PyLong_FromSsize_t(f->index)) {
    found = read_flat(self, index);
    Py_DECREF(index);
  }
  if (found) ++f->index;
  return found;
}

int visit_flat(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(as_flat(self)->base);
  return 0;
}

int clear_flat(PyObject* self) {
  Py_CLEAR(as_flat(self)->base);
  return 0;
}

void end_flat(PyObject* self) {
  PyObject_GC_UnTrack(self);
  clear_flat(self);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMemberDef flat_members[] = {
    {"base", T_OBJECT, offsetof(Flat, base), READONLY, "The array."},
    {"index", T_PYSSIZET, offsetof(Flat, index), READONLY, "Number of the element that comes next."},
    {},
};
PyType_Slot flat_slots[] = {
    {Py_tp_doc, const_cast<char*>("Flat(base)\n--\n\nThe elements of an array in C order.")},
    {Py_tp_new, FN(exclusive<new_flat>)},
    {Py_tp_iter, FN(PyObject_SelfIter)},
    {Py_tp_iternext, FN(exclusive<next_flat>)},
    {Py_mp_length, FN(exclusive<flat_length>)},
    {Py_mp_subscript, FN(exclusive<read_flat>)},
    {Py_mp_ass_subscript, FN(exclusive<write_flat>)},
    {Py_tp_members, flat_members},
    {Py_tp_traverse, FN(visit_flat)},
    {Py_tp_clear, FN(exclusive<clear_flat>)},
    {Py_tp_dealloc, FN(exclusive<end_flat>)},
    {},
};
#undef FN
PyType_Spec flat_spec = {"forerun._core.Flat", sizeof(Flat), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, flat_slots};

}  // namespace

PyTypeObject* flat_base = nullptr;

PyTypeObject* make_elements_type() {
  return elements_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&element_spec));
}
PyTypeObject* make_flat_type() {
  return flat_type = flat_base = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&flat_spec));
}
// A subclass without members of its own has no further members to release.
void set_flat_type(PyTypeObject* type) {
  flat_type = type;
  if (type->tp_basicsize == sizeof(Flat) && type->tp_dictoffset == 0) type->tp_dealloc = end_flat;
}

// Libraries check for __iter__ to distinguish arrays from scalars, and treat arrays without axes as scalars.
PyObject* iterate(PyObject* array) {
  if (as_array(array)->array.layout.ndim() == 0)
    return PyErr_SetString(PyExc_TypeError, "iter: array must have an axis, got shape ()"), nullptr;
  auto* e = PyObject_GC_New(Elements, elements_type);
  if (!e) return nullptr;
  e->array = Py_NewRef(array);
  e->at = e->first = e->end = 0, e->issued = 0;
  new (&e->copied) Array();
  PyObject_GC_Track(e);
  return reinterpret_cast<PyObject*>(e);
}

PyObject* get_flat(PyObject* array, void*) { return make_flat(flat_type, array); }

int put_flat(PyObject* array, PyObject* values, void*) {
  PyObject* flat = get_flat(array, nullptr);
  const int done = flat ? write_flat(flat, Py_Ellipsis, values) : -1;
  Py_XDECREF(flat);
  return done;
}

}  // namespace forerun
