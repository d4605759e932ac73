#include "python/dispatch/primitive_type.h"

#include <structmember.h>

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#include "python/bindings.h"
#include "python/dispatch/ufunc_type.h"
#include "python/front_end.h"
#include "python/object/node.h"
#include "python/runtime/interpreter/gil.h"

namespace forerun {

PyTypeObject* primitive_type = nullptr;

namespace {

PrimitiveObject* as_primitive(PyObject* o) { return reinterpret_cast<PrimitiveObject*>(o); }

int init(PyObject* self, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"forward", "name", "parameters", "defaults", "arrays",
                                "grads",   "save", "kept",       nullptr};
  PyObject *forward, *name, *parameters, *defaults, *grads;
  PrimitiveObject* p = as_primitive(self);
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OUO!O!nO!In", const_cast<char**>(names), &forward, &name,
                                   &PyTuple_Type, &parameters, &PyTuple_Type, &defaults, &p->arrays, &PyTuple_Type,
                                   &grads, &p->save, &p->kept))
    return -1;
  Py_XSETREF(p->forward, Py_NewRef(forward));
  Py_XSETREF(p->name, Py_NewRef(name));
  Py_XSETREF(p->parameters, Py_NewRef(parameters));
  Py_XSETREF(p->defaults, Py_NewRef(defaults));
  Py_XSETREF(p->grads, Py_NewRef(grads));
  return 0;
}

// Puts the call's arguments in the order of the parameters, with defaults for missing ones. False: they are not
// arguments of the function, so they cannot belong to a call that returned.
bool arrange(PrimitiveObject* p, PyObject* const* args, Py_ssize_t n, PyObject* kwnames,
             std::vector<PyObject*>& values) {
  for (Py_ssize_t i = 0; i < n && i < static_cast<Py_ssize_t>(values.size()); ++i) values[i] = args[i];
  for (Py_ssize_t k = 0; kwnames && k < PyTuple_GET_SIZE(kwnames); ++k) {
    Py_ssize_t at = PySequence_Index(p->parameters, PyTuple_GET_ITEM(kwnames, k));
    if (at < 0) return false;
    values[at] = args[n + k];
  }
  return true;
}

bool holds_taped(PyObject* o) {
  if (!PyTuple_Check(o) && !PyList_Check(o)) return on_tape(o);
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i)
    if (holds_taped(PySequence_Fast_GET_ITEM(o, i))) return true;
  return false;
}

bool record_call(PrimitiveObject* p, PyObject* const* args, Py_ssize_t n, PyObject* kwnames, PyObject* result,
                 PyObject* const* kept) {
  std::vector<PyObject*> values(PySequence_Fast_ITEMS(p->defaults),
                                PySequence_Fast_ITEMS(p->defaults) + PyTuple_GET_SIZE(p->defaults));
  if (!arrange(p, args, n, kwnames, values)) return false;
  bool any = false;
  for (Py_ssize_t i = 0; i < p->arrays; ++i) any = any || on_tape(values[i]);
  for (size_t i = static_cast<size_t>(p->arrays); tracing && i < values.size(); ++i)
    any = any || holds_taped(values[i]);
  if (!any) return true;
  values.insert(values.end(), kept, kept + p->kept);
  Py_ssize_t count = static_cast<Py_ssize_t>(values.size()) - p->arrays;
  PyObject* attrs = count ? PyTuple_New(count) : nullptr;
  if (count && !attrs) return false;
  for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SET_ITEM(attrs, i, Py_NewRef(values[p->arrays + i]));
  bool several = PyTuple_Check(result);
  bool good =
      record(reinterpret_cast<PyObject*>(p), values.data(), p->arrays,
             several ? PySequence_Fast_ITEMS(result) : &result, several ? PyTuple_GET_SIZE(result) : 1, attrs, p->save);
  Py_XDECREF(attrs);
  return good;
}

PyObject* vectorcall(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  PrimitiveObject* p = as_primitive(self);
  bool recorded = std::exchange(recording, false);
  PyObject* returned = hang_if_finalizing([&] { return PyObject_Vectorcall(p->forward, args, nargsf, kwnames); });
  recording = recorded;
  if (!returned || (!recorded && !p->kept)) return returned;
  InFrontEnd here;
  PyObject* const* all = p->kept ? PySequence_Fast_ITEMS(returned) : &returned;
  PyObject* result = Py_NewRef(all[0]);
  try {
    if (recorded && !record_call(p, args, PyVectorcall_NARGS(nargsf), kwnames, result, all + 1)) Py_CLEAR(result);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
    Py_CLEAR(result);
  }
  Py_DECREF(returned);
  return result;
}

PyObject* new_primitive(PyTypeObject* type, PyObject*, PyObject*) {
  lend_vectorcall(type);
  PyObject* self = type->tp_alloc(type, 0);
  if (self) as_primitive(self)->vectorcall = vectorcall;
  return self;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  PrimitiveObject* p = as_primitive(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(p->forward);
  Py_VISIT(p->defaults);
  Py_VISIT(p->grads);
  return 0;
}

int clear(PyObject* self) {
  PrimitiveObject* p = as_primitive(self);
  Py_CLEAR(p->forward);
  Py_CLEAR(p->defaults);
  Py_CLEAR(p->grads);
  return 0;
}

void dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  clear(self);
  Py_CLEAR(as_primitive(self)->name);
  Py_CLEAR(as_primitive(self)->parameters);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMemberDef members[] = {
    {"forward", T_OBJECT, offsetof(PrimitiveObject, forward), READONLY, "The function."},
    {"name", T_OBJECT, offsetof(PrimitiveObject, name), 0, "The op's name."},
    {"parameters", T_OBJECT, offsetof(PrimitiveObject, parameters), READONLY, "Names of all parameters."},
    {"grads", T_OBJECT, offsetof(PrimitiveObject, grads), READONLY,
     "Per input a gradient function and its arguments, or None."},
    {"arrays", T_PYSSIZET, offsetof(PrimitiveObject, arrays), READONLY, "How many of the parameters are inputs."},
    {"save", T_UINT, offsetof(PrimitiveObject, save), READONLY,
     "Bit i: gradients need the value of input i; bit 7: of the outputs."},
    {"kept", T_PYSSIZET, offsetof(PrimitiveObject, kept), READONLY,
     "How many values the function returns after its result, for gradients alone."},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PrimitiveObject, vectorcall), READONLY, nullptr},
    {},
};
PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("Primitive(forward, name, parameters, defaults, arrays, grads, save, kept): a Python "
                                  "function that counts as one op.")},
    {Py_tp_init, reinterpret_cast<void*>(init)},
    {Py_tp_new, reinterpret_cast<void*>(new_primitive)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_members, members},
    {},
};
PyType_Spec spec = {"forerun._core.Primitive", sizeof(PrimitiveObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots};

}  // namespace

PyTypeObject* make_primitive_type() { return primitive_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec)); }

}  // namespace forerun
