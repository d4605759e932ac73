// While NumPy is replaced, scalars have one class for each dtype, as NumPy's have, and are numbers instead of
// containers.
#include "python/array/numpy_classes.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "python/array/array_type.h"
#include "python/bindings.h"
#include "python/numpy_api.h"
#include "python/object/array_object.h"
#include "python/object/conversion/dtypes.h"

namespace forerun {

namespace {

// The packages that see the actual types while NumPy is replaced; otherwise empty.
std::vector<std::string> plain_packages;

// The name of a module, from its variables; empty if it has no name.
std::string_view module_name(PyObject* globals) {
  static PyObject* const key = PyUnicode_InternFromString("__name__");
  PyObject* name = globals ? PyDict_GetItemWithError(globals, key) : nullptr;
  const char* text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
  return text ? text : "";
}

// Whether the code that reads an attribute belongs to one of those packages. With an abstract class, `isinstance` reads
// it in the module abc.
bool asked_by_plain_package() {
  std::string_view asks = module_name(PyEval_GetGlobals());
  nb::object globals;
  if (asks == "abc") {
    PyFrameObject* caller = PyFrame_GetBack(PyEval_GetFrame());
    if (caller) asks = module_name((globals = nb::steal(PyFrame_GetGlobals(caller))).ptr()), Py_DECREF(caller);
  }
  const std::string_view package = asks.substr(0, asks.find('.'));
  return std::find(plain_packages.begin(), plain_packages.end(), package) != plain_packages.end();
}

// An attribute of a scalar, without those that mark containers.
PyObject* attribute_of_number(PyObject* self, PyObject* name) {
  static PyObject* const hidden[] = {PyUnicode_InternFromString("__len__"), PyUnicode_InternFromString("__iter__"),
                                     PyUnicode_InternFromString("__contains__")};
  if (std::find(std::begin(hidden), std::end(hidden), name) == std::end(hidden))
    return PyObject_GenericGetAttr(self, name);
  return PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute '%U'", Py_TYPE(self)->tp_name, name);
}

// Scalars have no length, as NumPy's; arrays without axes have methods that raise.
void hide_containers(PyTypeObject* type, bool hidden) {
  if (hidden) type->tp_as_sequence->sq_length = type->tp_as_mapping->mp_length = nullptr;
  type->tp_getattro = hidden ? attribute_of_number : PyObject_GenericGetAttr;
  PyType_Modified(type);
}

// Makes scalars of a dtype instances of a class, or again of the common class.
void set_class(DType t, PyTypeObject* type, bool own) {
  if (type->tp_base != scalar_type)
    throw Error(ErrorKind::type, std::string("imitate_numpy: classes must derive from scalar, got ") + type->tp_name);
  type->tp_name = reinterpret_cast<PyTypeObject*>(scalar_class(t))->tp_name;  // for Python's errors
  set_scalar_type_of(t, own ? type : scalar_type);
  hide_containers(type, own);
}

void imitate_numpy(nb::handle packages, const nb::dict& classes) {
  static PyObject* kept = PyDict_New();  // the classes that scalars may have
  static const char* const own_name = array_type->tp_name;
  plain_packages.clear();
  for (nb::handle package : packages) plain_packages.push_back(nb::cast<std::string>(package));
  const bool on = !plain_packages.empty();
  if (on) Py_SETREF(kept, Py_NewRef(classes.ptr()));
  hide_containers(scalar_type, on);
  for (auto [dtype, type] : nb::borrow<nb::dict>(kept))
    set_class(parse_dtype("imitate_numpy", dtype.ptr()), reinterpret_cast<PyTypeObject*>(type.ptr()), on);
  array_type->tp_name = on ? PyArray_Type.tp_name : own_name;
}

}  // namespace

PyObject* get_class(PyObject* self, void*) {
  PyTypeObject* type = Py_TYPE(self);
  const bool scalar = is_scalar(self);
  if (plain_packages.empty() || (!scalar && type != array_type) || asked_by_plain_package())
    return Py_NewRef(reinterpret_cast<PyObject*>(type));
  // Programs and libraries depend on `isinstance(x[0], float)` and `isinstance(x, numpy.ndarray)`.
  if (scalar) return Py_NewRef(scalar_class(as_array(self)->array.layout.dtype));
  return Py_NewRef(reinterpret_cast<PyObject*>(&PyArray_Type));
}

void init_numpy_classes(Module& m) {
  m.def("imitate_numpy", imitate_numpy, nb::arg("packages"), nb::arg("classes"),
        "From now on arrays and scalars have NumPy's class outside these packages, and scalars no length and no "
        "attributes of containers. New ones are of the classes by dtype, which derive from that of all scalars, and "
        "Python's errors name NumPy's classes. With no packages all of it is as before.");
}

}  // namespace forerun
