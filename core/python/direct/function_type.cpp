#include "python/direct/function_type.h"

#include <structmember.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

#include "python/bindings.h"
#include "python/direct/creation/from_lists.h"
#include "python/direct/lent.h"
#include "python/dispatch/ufunc_type.h"
#include "python/front_end.h"
#include "python/object/node.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/interpreter/gil.h"

namespace forerun {

// Adds the entries, by subject; each file of this folder adds its own.
void add_direct_creation();
void add_direct_ranges();
void add_direct_conversions();
void add_direct_lists();
void add_direct_shapes();
void add_direct_reductions();
void add_direct_products();
void add_direct_numpy();
void add_direct_overrides();
void add_direct_writes();
void add_direct_scalars();
void add_direct_adapted();

namespace {

struct Entry {
  DirectEntry function;
  Lists lists;
};
std::map<std::string, Entry>& entries() {
  static std::map<std::string, Entry> all;  // filled when the module is loaded
  return all;
}

struct FunctionObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  Entry entry;
  PyObject *function, *data, *dict, *weak;
};
FunctionObject* as_function(PyObject* o) { return reinterpret_cast<FunctionObject*>(o); }

// Calls the entry with an array in place of a first argument that is a list of numbers, or NumPy's array.
PyObject* call_with_array(const Entry& entry, const DirectCall& call) {
  constexpr Py_ssize_t kMost = 8;
  const Py_ssize_t n = call.n + (call.kwnames ? PyTuple_GET_SIZE(call.kwnames) : 0);
  if (n > kMost) return nullptr;
  const nb::object lent = entry.lists == Lists::read_in_place ? lent_by(call.args[0], Reader::reduction) : nb::object();
  const nb::object array = lent ? lent : array_from_like(call.args[0]);
  if (!array) return nullptr;
  PyObject* args[kMost] = {array.ptr()};
  std::copy(call.args + 1, call.args + n, args + 1);
  PyObject* result = entry.function(DirectCall{args, call.n, call.kwnames, call.data});
  return lent ? when_ended(result) : result;
}

PyObject* call(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  FunctionObject* f = as_function(self);
  if (!tracing) {
    const DirectCall direct{args, PyVectorcall_NARGS(nargsf), kwnames, f->data};
    const bool like = f->entry.lists != Lists::as_they_are && direct.n > 0 && is_array_like(args[0]);
    PyObject* result = guarded([&] {
      InFrontEnd here;
      return like ? call_with_array(f->entry, direct) : f->entry.function(direct);
    });
    if (result || PyErr_Occurred()) return result;
  }
  return hang_if_finalizing([&] { return PyObject_Vectorcall(f->function, args, nargsf, kwnames); });
}

int init(PyObject* self, PyObject* args, PyObject*) {
  const char* name;
  PyObject *function, *data = nullptr;
  if (!PyArg_ParseTuple(args, "sO|O", &name, &function, &data)) return -1;
  auto at = entries().find(name);
  if (at == entries().end())
    return PyErr_Format(PyExc_ValueError, "Function: entry must be one of the core's, got %s", name), -1;
  FunctionObject* f = as_function(self);
  f->entry = at->second;
  Py_XSETREF(f->function, Py_NewRef(function));
  Py_XSETREF(f->data, Py_XNewRef(data));
  return 0;
}

PyObject* make(PyTypeObject* type, PyObject*, PyObject*) {
  lend_vectorcall(type);
  PyObject* self = type->tp_alloc(type, 0);
  if (self) as_function(self)->vectorcall = call;
  return self;
}

// As with Python's functions, an attribute of a class is a method of its instances.
PyObject* bind(PyObject* self, PyObject* instance, PyObject*) {
  return instance && instance != Py_None ? PyMethod_New(self, instance) : Py_NewRef(self);
}

PyObject* text(PyObject* self) { return PyObject_Repr(as_function(self)->function); }

int traverse(PyObject* self, visitproc visit, void* arg) {
  FunctionObject* f = as_function(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(f->function);
  Py_VISIT(f->data);
  Py_VISIT(f->dict);
  return 0;
}

int clear(PyObject* self) {
  FunctionObject* f = as_function(self);
  Py_CLEAR(f->function);
  Py_CLEAR(f->data);
  Py_CLEAR(f->dict);
  return 0;
}

void dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  if (as_function(self)->weak) PyObject_ClearWeakRefs(self);
  clear(self);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMemberDef members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(FunctionObject, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weak), READONLY, nullptr},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, vectorcall), READONLY, nullptr},
    {},
};
// Pickled by its name, like Python's functions.
PyObject* reduce(PyObject* self, PyObject*) { return PyObject_GetAttrString(self, "__qualname__"); }
PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {}};

PyGetSetDef attributes[] = {{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr}, {}};
PyType_Slot slots[] = {
    {Py_tp_doc,
     const_cast<char*>("Function(entry, function, data=None): a function whose plain calls the core handles itself.")},
    {Py_tp_init, reinterpret_cast<void*>(init)},
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_descr_get, reinterpret_cast<void*>(bind)},
    {Py_tp_repr, reinterpret_cast<void*>(text)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_tp_getset, attributes},
    {},
};
PyType_Spec spec = {"forerun._core.Function", sizeof(FunctionObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                        Py_TPFLAGS_METHOD_DESCRIPTOR,
                    slots};

}  // namespace

void add_direct(const char* name, DirectEntry entry, Lists lists) { entries()[name] = {entry, lists}; }

bool DirectCall::arrange(const char* const* names, PyObject** values, size_t count) const {
  if (static_cast<size_t>(n) > count) return false;
  for (size_t i = 0; i < count; ++i) values[i] = i < static_cast<size_t>(n) ? args[i] : nullptr;
  for (Py_ssize_t k = 0; kwnames && k < PyTuple_GET_SIZE(kwnames); ++k) {
    size_t at = 0;
    while (at < count && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, k), names[at]) != 0) ++at;
    if (at == count || values[at]) return false;
    values[at] = args[n + k];
  }
  return true;
}

PyTypeObject* make_function_type() {
  add_direct_creation();
  add_direct_ranges();
  add_direct_conversions();
  add_direct_lists();
  add_direct_shapes();
  add_direct_reductions();
  add_direct_products();
  add_direct_numpy();
  add_direct_overrides();
  add_direct_writes();
  add_direct_scalars();
  add_direct_adapted();
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

}  // namespace forerun
