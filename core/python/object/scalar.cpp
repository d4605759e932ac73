#include "python/object/scalar.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/array.h"
#include "cpu/kernels/copy/copy.h"
#include "engine/engine.h"
#include "python/bindings.h"
#include "python/numpy_api.h"
#include "python/object/array_arguments.h"
#include "python/object/array_object.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/create.h"
#include "python/runtime/submission/capture.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"

namespace forerun {

PyObject* scalar_at_once(DType t, MemoryBudget* budget, const void* value) {
  Buffer* storage = Buffer::make(item_size(t), budget);
  storage->form.dtype = static_cast<uint8_t>(t), storage->form.ndim = 0;
  storage->take();
  storage->materialized = true;
  if (const size_t size = item_size(t); size == 8)
    std::memcpy(storage->data(), value, 8);
  else
    std::memcpy(storage->data(), value, size);
  PyObject* made = wrap_element(storage, t, 0);
  if (!made) storage->retain(), storage->release();
  return made;
}

PyObject* element(const Array& array, int64_t offset) {
  const Buffer& storage = *array.storage();
  const DType t = array.layout.dtype;
  // With the interpreter lock held, and all issued writes over, no thread writes.
  if (storage.settled() && !storage.failure && storage.data() && !capture)
    return scalar_at_once(t, storage.budget, storage.data() + offset);
  Array made = Array::make_scalar(t, storage.budget);
  Layout layout = made.layout;
  layout.offset = offset;
  Building op;
  build_copy(*op, Array(array.storage(), std::move(layout)), made);
  op.issue(storage.budget->device);
  return wrap_result(std::move(made));
}

void become(PyObject* array, bool scalar) {
  if (is_scalar(array) == scalar) return;
  PyTypeObject* was = Py_TYPE(array);
  Py_SET_TYPE(array, reinterpret_cast<PyTypeObject*>(Py_NewRef(scalar ? scalar_type : array_type)));
  Py_DECREF(was);
}

PyObject* wrap_like(PyObject* like, Array array) {
  return is_scalar(like) ? wrap_result(std::move(array)) : wrap(std::move(array));
}

const Array& viewed(const char* op, PyObject* o, Array& own) {
  const Array& a = get_array(op, o);
  return is_scalar(o) ? own = copied(a, a.layout.dtype, device_of(a)) : a;
}

const Array& get_writable(const char* op, PyObject* o) {
  const Array& a = get_array(op, o);
  if (is_scalar(o))
    throw Error(ErrorKind::type, std::string(op) + ": destination must be an array, got a scalar, which is a value");
  return a;
}

namespace {

nb::object as_scalar(nb::handle a) {
  if (arg("scalar", a).layout.ndim() == 0) become(a.ptr(), true);
  return nb::borrow(a);
}

nb::object turned_array(nb::handle a) {
  const Array& array = arg("array", a);
  if (!is_scalar(a.ptr())) return nb::borrow(a);
  if (!array.storage()->has_one_handle())
    as_array(a.ptr())->array = copied(array, array.layout.dtype, device_of(array));
  become(a.ptr(), false);
  return nb::borrow(a);
}

// The packages that see the type of scalars itself while NumPy is replaced.
std::vector<std::string> plain_packages;

// The name of a module, by its variables; empty without one.
std::string_view module_name(PyObject* globals) {
  static PyObject* const key = PyUnicode_InternFromString("__name__");
  PyObject* name = globals ? PyDict_GetItemWithError(globals, key) : nullptr;
  const char* text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
  return text ? text : "";
}

// Whether the code that asks for an attribute is of one of those packages. With an abstract class, `isinstance` asks in
// the module abc.
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

// The `__class__` of a scalar, which isinstance reads: NumPy's class, and so one of Python's, because
// `isinstance(x[0], float)` decides what programs and libraries do.
PyObject* class_of_number(PyObject* self) {
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(self));
  return Py_NewRef(asked_by_plain_package() ? type : scalar_class(as_array(self)->array.layout.dtype));
}

// An attribute of a scalar, of which none says that it is a container.
PyObject* attribute_of_number(PyObject* self, PyObject* name) {
  static PyObject* const class_name = PyUnicode_InternFromString("__class__");
  if (name == class_name) return class_of_number(self);
  static PyObject* const hidden[] = {PyUnicode_InternFromString("__len__"), PyUnicode_InternFromString("__iter__"),
                                     PyUnicode_InternFromString("__contains__")};
  if (std::find(std::begin(hidden), std::end(hidden), name) == std::end(hidden))
    return PyObject_GenericGetAttr(self, name);
  return PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute '%U'", Py_TYPE(self)->tp_name, name);
}

// Whether scalars have no length, as NumPy's have none, and NumPy's classes; arrays without axes have methods that
// raise.
void imitate_numbers(nb::handle packages) {
  plain_packages.clear();
  for (nb::handle package : packages) plain_packages.push_back(nb::cast<std::string>(package));
  const bool hidden = !plain_packages.empty();
  if (hidden) scalar_type->tp_as_sequence->sq_length = scalar_type->tp_as_mapping->mp_length = nullptr;
  scalar_type->tp_getattro = hidden ? attribute_of_number : PyObject_GenericGetAttr;
  PyType_Modified(scalar_type);
}

// `isinstance(x, numpy.ndarray)` while NumPy is replaced: arrays of both kinds are instances, and scalars are not.
bool is_ndarray(nb::handle x) {
  if (is_array(x.ptr())) return !is_scalar(x.ptr());
  return nb::isinstance(x, nb::handle(reinterpret_cast<PyObject*>(&PyArray_Type)));
}

}  // namespace

void init_scalars(Module& m) {
  m.def("is_ndarray", is_ndarray);
  m.def("is_scalar", [](nb::handle o) { return is_scalar(o.ptr()); });
  m.def("as_scalar", as_scalar, nb::arg("a"),
        "The same object, a scalar from now on if it has no axes. Its storage must not be shared.");
  m.def("as_array", turned_array, nb::arg("a"),
        "The same object, an array from now on if it is a scalar, with values of its own.");
  m.def("imitate_numbers", imitate_numbers, nb::arg("packages"),
        "From now on scalars have no length, no attributes of containers, and NumPy's class outside these packages; "
        "with no packages they are arrays again. Their class has None in place of the methods.");
}

}  // namespace forerun
