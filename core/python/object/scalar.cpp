#include "python/object/scalar.h"

#include <cstdint>
#include <string>
#include <utility>

#include "array/array.h"
#include "cpu/kernels/copy/copy.h"
#include "cpu/loops/cast.h"
#include "engine/engine.h"
#include "python/bindings.h"
#include "python/numpy_api.h"
#include "python/object/array_arguments.h"
#include "python/object/array_object.h"
#include "python/object/create.h"
#include "python/object/node.h"
#include "python/runtime/submission/at_once.h"
#include "python/runtime/submission/capture.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"

namespace forerun {

PyObject* element(const Array& array, int64_t offset) {
  const Buffer& storage = *array.storage();
  const DType t = array.layout.dtype;
  // While the interpreter lock is held and all issued writes have ended, no thread writes.
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
  forget_truth(array);
  PyTypeObject *was = Py_TYPE(array), *type = scalar_types[static_cast<int>(layout_of(array).dtype)];
  Py_SET_TYPE(array, reinterpret_cast<PyTypeObject*>(Py_NewRef(scalar ? type : array_type)));
  Py_DECREF(was);
}

bool integer_at_once(PyObject* scalar, int64_t* value) {
  const Array& a = as_array(scalar)->array;
  if (!a.storage() || !is_integer(a.layout.dtype) || on_tape(scalar) || !may_work_at_once()) return false;
  const char* from = values_at_once(a);
  if (!from) return false;
  const Loop widen = cast_loop(a.layout.dtype, DType::i64);
  char* args[2] = {const_cast<char*>(from), reinterpret_cast<char*>(value)};
  const intptr_t one = 1, steps[2] = {0, 0};
  widen.function(args, &one, steps, widen.data);
  return a.layout.dtype != DType::u64 || *value >= 0;
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

nb::object scalar_to_array(nb::handle a) {
  const Array& array = arg("array", a);
  if (!is_scalar(a.ptr())) return nb::borrow(a);
  if (!array.storage()->has_one_handle())
    as_array(a.ptr())->array = copied(array, array.layout.dtype, device_of(array));
  become(a.ptr(), false);
  return nb::borrow(a);
}

// `isinstance(x, numpy.ndarray)` while NumPy is replaced: arrays of both kinds are instances, and scalars are not.
bool is_ndarray(nb::handle x) {
  if (is_array(x.ptr())) return !is_scalar(x.ptr());
  return nb::isinstance(x, nb::handle(reinterpret_cast<PyObject*>(&PyArray_Type)));
}

}  // namespace

void init_scalars(Module& m) {
  m.def("is_ndarray", is_ndarray, nb::arg("x").none());
  m.def("is_scalar", [](nb::handle o) { return is_scalar(o.ptr()); }, nb::arg("o").none());
  m.def("as_scalar", as_scalar, nb::arg("a"),
        "The same object, a scalar from now on if it has no axes. Its storage must not be shared.");
  m.def("as_array", scalar_to_array, nb::arg("a"),
        "The same object, an array from now on if it is a scalar, with values of its own.");
}

}  // namespace forerun
