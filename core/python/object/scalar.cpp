#include "python/object/scalar.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "array/array.h"
#include "cpu/kernels/copy/copy.h"
#include "engine/engine.h"
#include "python/autograd/node.h"
#include "python/bindings.h"
#include "python/capture/capture.h"
#include "python/dispatch/operator_table.h"
#include "python/object/array_arguments.h"
#include "python/object/array_type.h"
#include "python/object/create.h"
#include "python/runtime/at_once.h"
#include "python/runtime/devices.h"
#include "python/runtime/errors.h"
#include "python/runtime/submit.h"

namespace forerun {

namespace {

// A scalar with a value, made at once.
PyObject* valued(DType t, MemoryBudget* budget, const void* value) {
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

}  // namespace

PyObject* element(const Array& array, int64_t offset) {
  const Buffer& storage = *array.storage();
  const DType t = array.layout.dtype;
  // With the interpreter lock held, and all issued writes over, no thread writes.
  if (storage.settled() && !storage.failure && storage.data() && !capture)
    return valued(t, storage.budget, storage.data() + offset);
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

namespace {

// The value of a scalar or of a number of Python's, which has fewer kinds of values than T. False: it is none, or not
// there.
template <class T>
bool read(PyObject* o, T* value) {
  if (is_scalar(o)) {
    const Array& a = as_array(o)->array;
    const char* from = values_at_once(a);
    if (!from) return false;
    if constexpr (std::is_same_v<T, double>) {
      if (a.layout.dtype == DType::i64) {
        int64_t whole;
        std::memcpy(&whole, from, sizeof whole);
        return *value = static_cast<double>(whole), true;
      }
    }
    std::memcpy(value, from, sizeof *value);
    return true;
  }
  if (PyLong_CheckExact(o)) {
    int beyond = 0;
    long long whole = PyLong_AsLongLongAndOverflow(o, &beyond);
    constexpr long long kExact = 1LL << 53;  // beyond, a number might be rounded twice
    if (beyond || (!std::is_same_v<T, int64_t> && (whole > kExact || whole < -kExact))) return false;
    return *value = static_cast<T>(whole), true;
  }
  if constexpr (!std::is_same_v<T, int64_t>) {
    if (PyFloat_CheckExact(o)) return *value = static_cast<T>(PyFloat_AS_DOUBLE(o)), true;
  }
  return false;
}

template <class T>
PyObject* scalar_of(T value, DType t, MemoryBudget* budget) {
  ++Engine::get().at_once.count;
  return valued(t, budget, &value);
}

template <class T>
PyObject* calculated(Operator which, PyObject* a, PyObject* b, DType t, MemoryBudget* budget) {
  using Wraps = std::conditional_t<std::is_same_v<T, int64_t>, uint64_t, T>;
  T x, y;
  if (!read(a, &x) || !read(b, &y)) return nullptr;
  const Wraps p = static_cast<Wraps>(x), q = static_cast<Wraps>(y);
  switch (which) {
    case Operator::add: return scalar_of(static_cast<T>(p + q), t, budget);
    case Operator::subtract: return scalar_of(static_cast<T>(p - q), t, budget);
    case Operator::multiply: return scalar_of(static_cast<T>(p * q), t, budget);
    case Operator::divide:
      return std::is_same_v<T, int64_t>
                 ? nullptr
                 : scalar_of(static_cast<T>(x / (std::is_same_v<T, int64_t> ? T(1) : y)), t, budget);
    case Operator::less: return scalar_of(x < y, DType::b1, budget);
    case Operator::less_equal: return scalar_of(x <= y, DType::b1, budget);
    case Operator::greater: return scalar_of(x > y, DType::b1, budget);
    case Operator::greater_equal: return scalar_of(x >= y, DType::b1, budget);
    case Operator::equal: return scalar_of(x == y, DType::b1, budget);
    case Operator::not_equal: return scalar_of(x != y, DType::b1, budget);
    default: return nullptr;
  }
}

}  // namespace

PyObject* calculated_at_once(Operator which, PyObject* a, PyObject* b) {
  const Array *x = is_scalar(a) ? &as_array(a)->array : nullptr, *y = is_scalar(b) ? &as_array(b)->array : nullptr;
  if ((!x && !PyFloat_CheckExact(a) && !PyLong_CheckExact(a)) ||
      (!y && !PyFloat_CheckExact(b) && !PyLong_CheckExact(b)))
    return nullptr;
  if ((x && !x->storage()) || (y && !y->storage()) || on_tape(a) || on_tape(b) || !may_work_at_once()) return nullptr;
  const Array& one = x ? *x : *y;
  DType t = one.layout.dtype;
  if (x && y) {
    if (as_array(a)->device != as_array(b)->device) return nullptr;
    DType other = y->layout.dtype;
    bool mixed = (t == DType::f64 && other == DType::i64) || (t == DType::i64 && other == DType::f64);
    if (t != other && !mixed) return nullptr;
    if (mixed) t = DType::f64;
  }
  MemoryBudget* budget = one.storage()->budget;
  return guarded([&]() -> PyObject* {
    if (t == DType::f64) return calculated<double>(which, a, b, t, budget);
    if (t == DType::f32) return calculated<float>(which, a, b, t, budget);
    return t == DType::i64 ? calculated<int64_t>(which, a, b, t, budget) : nullptr;
  });
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

}  // namespace

void init_scalars(nb::module_& m) {
  m.def("is_scalar", [](nb::handle o) { return is_scalar(o.ptr()); });
  m.def("as_scalar", as_scalar, nb::arg("a"),
        "The same object, a scalar from now on if it has no axes. Its storage must not be shared.");
  m.def("as_array", turned_array, nb::arg("a"),
        "The same object, an array from now on if it is a scalar, with values of its own.");
}

}  // namespace forerun
