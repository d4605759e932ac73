#include "python/dispatch/fallback.h"

#include <structmember.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "array/array.h"
#include "engine/engine.h"
#include "python/bindings.h"
#include "python/numpy_api.h"
#include "python/object/array_arguments.h"
#include "python/object/array_object.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/conversion/numpy_memory.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/submission/devices.h"

namespace forerun {

namespace {

// The arguments for which the other function is called without a try of the first, which would reject them: of dtypes
// that only NumPy has, or also of classes that are derived from NumPy's array; or of such classes only if they have
// rules for functions, as the function ignores the class of others. views: as classes, and the function returns views,
// which see the memory of NumPy's arrays.
enum class Delegates { none, dtypes, classes, rules, views };

struct FallbackObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject *function, *otherwise, *dict;
  PyObject* numpy_function;  // NumPy's function, which handles few values in NumPy's arrays; or null
  Delegates delegates;
};

// The fallbacks of all ops, and of operators and indices; and the function that gets the results of operands of classes
// derived from NumPy's array. Each may be null.
PyObject *otherwise = nullptr, *of_syntax = nullptr, *of_derived = nullptr;

// Whether the exception is of a kind that concerns arguments. Others concern the machine, the program's end, or a
// guard.
bool refused() {
  for (PyObject* kind : {PyExc_TypeError, PyExc_ValueError, PyExc_ArithmeticError, PyExc_LookupError,
                         PyExc_AttributeError, PyExc_NotImplementedError})
    if (PyErr_ExceptionMatches(kind)) return true;
  return false;
}

// Calls f with the set exception as an object. If f returns NotImplemented, or null without an exception, that
// exception is set again.
template <class F>
PyObject* instead(F f) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace) PyException_SetTraceback(value, trace);
  PyObject* result = f(value);
  if (result == Py_NotImplemented) {
    Py_DECREF(result);
    PyErr_Restore(type, value, trace);
    return nullptr;
  }
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  return result;
}

PyObject* call_otherwise(FallbackObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames,
                         PyObject* error) {
  PyObject *all = positional_arguments(args, n), *named = named_arguments(args, n, kwnames), *result = nullptr;
  if (all && named) result = PyObject_CallFunctionObjArgs(self->otherwise, error, all, named, nullptr);
  Py_XDECREF(all);
  Py_XDECREF(named);
  return result;
}

bool is_numpys_dtype(int typenum) {
  bool known;
  dtype_of_typenum(typenum, &known);
  return !known;
}

// Whether an argument has a dtype that only NumPy has: an array, a scalar, a dtype, text, or the first value of a list.
bool is_numpys(PyObject* o, int depth = 0) {
  if (is_array(o) || PyFloat_CheckExact(o) || PyLong_CheckExact(o)) return false;
  if (PyArray_Check(o)) return is_numpys_dtype(PyArray_TYPE(reinterpret_cast<PyArrayObject*>(o)));
  if (PyList_CheckExact(o) || PyTuple_CheckExact(o))
    return depth < 4 && PySequence_Fast_GET_SIZE(o) > 0 && is_numpys(PySequence_Fast_GET_ITEM(o, 0), depth + 1);
  if (PyUnicode_CheckExact(o) || PyBytes_CheckExact(o)) return depth > 0;  // others are names of options
  if (PyArray_DescrCheck(o)) return is_numpys_dtype(reinterpret_cast<PyArray_Descr*>(o)->type_num);
  if (PyArray_IsScalar(o, Generic)) return !PyArray_IsScalar(o, Number) && !PyArray_IsScalar(o, Bool);
  return o == reinterpret_cast<PyObject*>(&PyBaseObject_Type) || o == reinterpret_cast<PyObject*>(&PyUnicode_Type) ||
         o == reinterpret_cast<PyObject*>(&PyBytes_Type);
}

// Whether the class of an array has rules of its own for NumPy's functions.
bool has_rules(PyObject* derived) {
  static PyObject* const name = PyUnicode_InternFromString("__array_function__");
  return !has_numpys(derived, name);
}

bool is_for_numpy(const FallbackObject* self, PyObject* const* args, Py_ssize_t n) {
  if (self->delegates == Delegates::none || !numpy_rules) return false;
  return std::any_of(args, args + n, [self](PyObject* o) {
    if (is_numpys(o)) return true;
    if (self->delegates == Delegates::dtypes || !is_derived(o)) return false;
    return self->delegates == Delegates::classes || has_rules(o);
  });
}

// An array without its derived class, or forerun's on the memory of NumPy's. Null: another object, or, with an
// exception set, a view cannot be made.
nb::object as_own(PyObject* o, Delegates delegates) {
  if (delegates == Delegates::rules && is_derived(o))
    return nb::steal(PyArray_View(reinterpret_cast<PyArrayObject*>(o), nullptr, &PyArray_Type));
  if (delegates != Delegates::views || !PyArray_CheckExact(o)) return {};
  Array shared = shared_with_numpy(o, device_index("array", nb::none()));
  return shared.storage() ? nb::steal(wrap(std::move(shared))) : nb::object();
}

// Calls the function with such arrays in place of the arguments.
PyObject* call_with_own(const FallbackObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  const Py_ssize_t n = PyVectorcall_NARGS(nargsf), all = n + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
  std::vector<nb::object> own;
  std::vector<PyObject*> given(args, args + all);
  for (PyObject*& one : given) {
    nb::object found = as_own(one, self->delegates);
    if (!found && PyErr_Occurred()) return nullptr;
    if (found) one = own.emplace_back(std::move(found)).ptr();
  }
  return PyObject_Vectorcall(self->function, given.data(), n, kwnames);
}

PyObject* vectorcall(PyObject* o, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  auto* self = reinterpret_cast<FallbackObject*>(o);
  Py_ssize_t n_args = PyVectorcall_NARGS(nargsf) + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
  if (is_for_numpy(self, args, n_args)) return call_otherwise(self, args, PyVectorcall_NARGS(nargsf), kwnames, Py_None);
  if (self->numpy_function && are_numpy_arrays(args, n_args))
    return PyObject_Vectorcall(self->numpy_function, args, nargsf, kwnames);
  const bool own = numpy_rules && (self->delegates == Delegates::rules || self->delegates == Delegates::views) &&
                   std::any_of(args, args + n_args, [](PyObject* o) { return PyArray_Check(o); });
  PyObject* result = own ? guarded([&] { return call_with_own(self, args, nargsf, kwnames); })
                         : PyObject_Vectorcall(self->function, args, nargsf, kwnames);
  if (result || !refused()) [[likely]]
    return result;
  return instead(
      [&](PyObject* error) { return call_otherwise(self, args, PyVectorcall_NARGS(nargsf), kwnames, error); });
}

PyObject* create(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject *function, *other, *numpy_function = Py_None;
  const char* delegates = "none";
  if (!PyArg_ParseTuple(args, "OO|Os:Fallback", &function, &other, &numpy_function, &delegates)) return nullptr;
  auto* self = reinterpret_cast<FallbackObject*>(type->tp_alloc(type, 0));
  if (!self) return nullptr;
  self->vectorcall = vectorcall;
  self->function = Py_NewRef(function), self->otherwise = Py_NewRef(other);
  self->numpy_function = numpy_function == Py_None ? nullptr : Py_NewRef(numpy_function);
  const std::string_view which = delegates;
  self->delegates = which == "classes"  ? Delegates::classes
                    : which == "rules"  ? Delegates::rules
                    : which == "views"  ? Delegates::views
                    : which == "dtypes" ? Delegates::dtypes
                                        : Delegates::none;
  return reinterpret_cast<PyObject*>(self);
}

// Attributes that it lacks are those of the function: its name, its text, its signature.
PyObject* get_attribute(PyObject* o, PyObject* name) {
  PyObject* found = PyObject_GenericGetAttr(o, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  PyErr_Clear();
  return PyObject_GetAttr(reinterpret_cast<FallbackObject*>(o)->function, name);
}

PyObject* bind(PyObject* self, PyObject* object, PyObject*) {
  return object && object != Py_None ? PyMethod_New(self, object) : Py_NewRef(self);
}

int traverse(PyObject* o, visitproc visit, void* arg) {
  auto* self = reinterpret_cast<FallbackObject*>(o);
  Py_VISIT(Py_TYPE(o));
  Py_VISIT(self->function);
  Py_VISIT(self->otherwise);
  Py_VISIT(self->numpy_function);
  Py_VISIT(self->dict);
  return 0;
}

int clear(PyObject* o) {
  auto* self = reinterpret_cast<FallbackObject*>(o);
  Py_CLEAR(self->function);
  Py_CLEAR(self->otherwise);
  Py_CLEAR(self->numpy_function);
  Py_CLEAR(self->dict);
  return 0;
}

void dealloc(PyObject* o) {
  PyObject_GC_UnTrack(o);
  clear(o);
  PyTypeObject* type = Py_TYPE(o);
  type->tp_free(o);
  Py_DECREF(type);
}

PyMemberDef members[] = {
    {"__wrapped__", T_OBJECT, offsetof(FallbackObject, function), READONLY, "The function that is called first."},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FallbackObject, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(FallbackObject, dict), READONLY, nullptr},
    {},
};
PyGetSetDef properties[] = {{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr}, {}};
PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(create)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_getattro, reinterpret_cast<void*>(get_attribute)},
    {Py_tp_descr_get, reinterpret_cast<void*>(bind)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_members, members},
    {Py_tp_getset, properties},
    {},
};
PyType_Spec spec = {"forerun._core.Fallback", sizeof(FallbackObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
                    slots};

constexpr npy_intp kFew = 4096;  // elements

}  // namespace

PyObject* positional_arguments(PyObject* const* args, Py_ssize_t n) {
  PyObject* all = PyTuple_New(n);
  for (Py_ssize_t i = 0; all && i < n; ++i) PyTuple_SET_ITEM(all, i, Py_NewRef(args[i]));
  return all;
}

PyObject* named_arguments(PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  PyObject* named = PyDict_New();
  for (Py_ssize_t i = 0; named && kwnames && i < PyTuple_GET_SIZE(kwnames); ++i)
    if (PyDict_SetItem(named, PyTuple_GET_ITEM(kwnames, i), args[n + i]) < 0) Py_CLEAR(named);
  return named;
}

bool are_numpy_arrays(PyObject* const* args, Py_ssize_t n) {
  bool some = false;
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (is_array(args[i]) || PyList_Check(args[i]) || PyTuple_Check(args[i])) return false;
    if (!PyArray_Check(args[i])) continue;
    auto* a = reinterpret_cast<PyArrayObject*>(args[i]);
    if (PyArray_SIZE(a) > kFew || !PyTypeNum_ISNUMBER(PyArray_TYPE(a))) return false;
    some = true;
  }
  return some;
}

bool has_numpys(PyObject* derived, PyObject* method) {
  const auto of_class = [method](PyTypeObject* type) {
    return nb::steal(PyObject_GetAttr(reinterpret_cast<PyObject*>(type), method));
  };
  const nb::object own = of_class(Py_TYPE(derived)), numpys = of_class(&PyArray_Type);
  if (!own || !numpys) PyErr_Clear();
  return own.ptr() == numpys.ptr();
}

PyTypeObject* make_fallback_type() { return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec)); }

PyObject* call_fallback(PyObject* op, PyObject* const* inputs, Py_ssize_t n, PyObject* out, PyObject* dtype) {
  if (!otherwise || !refused()) return nullptr;
  return instead([&](PyObject* error) -> PyObject* {
    PyObject* all = positional_arguments(inputs, n);
    PyObject* result = all ? PyObject_CallFunctionObjArgs(otherwise, error, op, all, out ? out : Py_None,
                                                          dtype ? dtype : Py_None, nullptr)
                           : nullptr;
    Py_XDECREF(all);
    return result;
  });
}

PyObject* syntax_fallback(const char* name, std::initializer_list<PyObject*> operands, PyObject* out) {
  const bool failed = PyErr_Occurred() != nullptr;
  if (!of_syntax || (failed && !refused())) return failed ? nullptr : Py_NewRef(Py_NotImplemented);
  auto call = [&](PyObject* error) -> PyObject* {
    PyObject* all = positional_arguments(operands.begin(), static_cast<Py_ssize_t>(operands.size()));
    PyObject* result = all ? PyObject_CallFunction(of_syntax, "OsOO", error, name, all, out ? out : Py_None) : nullptr;
    Py_XDECREF(all);
    return result;
  };
  return failed ? instead(call) : call(Py_None);
}

PyObject* derived_result(PyObject* ufunc, PyObject* result, double seconds) {
  if (!result || !of_derived) return result;
  PyObject* found = PyObject_CallFunction(of_derived, "OOd", ufunc, result, seconds);
  Py_DECREF(result);
  return found;
}

// From now on `array` has the layout and the values of `other`. Issued ops keep the previous ones.
static void see_as(nb::handle array, nb::handle other) {
  const Array& from = arg("see_as", other);
  arg("see_as", array);
  if (as_array(array.ptr())->node)
    throw Error(ErrorKind::value, "see_as: array must not be on the tape, got one that gradients go through");
  as_array(array.ptr())->array = Array(from);
}

void init_fallback(Module& m) {
  m.def("numpy_rules", [] { return numpy_rules; }, "Whether set_numpy_rules() has switched NumPy's rules on.");
  m.def(
      "set_numpy_rules", [](bool on) { numpy_rules = Engine::get().at_once.raises = on; },
      "Sets whether operands of foreign classes are rejected, small integers give small floats, and failures of "
      "operations in the call are raised there, as in NumPy.");
  m.def("see_as", see_as, nb::arg("array"), nb::arg("other"),
        "Gives an array the layout and the memory of another one.");
  m.def(
      "set_fallback",
      [](nb::handle function, nb::handle syntax, nb::handle derived) {
        auto set = [](PyObject*& held, nb::handle o) { Py_XSETREF(held, o.is_none() ? nullptr : Py_NewRef(o.ptr())); };
        set(otherwise, function), set(of_syntax, syntax), set(of_derived, derived);
      },
      nb::arg("function").none(), nb::arg("syntax").none(), nb::arg("derived").none(),
      "Sets the functions that are called if an op rejects its operands, as function(error, op, inputs, out, dtype), "
      "and if an operator or an index does, as syntax(error or None, name, operands, out); if they return "
      "NotImplemented, the error is raised. Results of NumPy's ufuncs for operands of derived classes are "
      "derived(ufunc, result, seconds). None: no function.");
}

}  // namespace forerun
