#include "bind/scalar.h"

#include <cstring>
#include <type_traits>

#include "bind/at_once.h"
#include "bind/direct.h"
#include "bind/glue.h"
#include "bind/hooks.h"
#include "bind/program.h"
#include "bind/tape.h"
#include "kernels/move.h"

namespace forerun {

namespace {

// A scalar with a value, made at once.
PyObject* valued(DType t, Budget* budget, const void* value) {
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

const Layout& layout_of(PyObject* array) { return as_array(array)->array.layout; }

// The value of a scalar of integers, if it is there.
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

// Adds to `offset` how far element i is along an axis; false: there is none.
bool step(const Layout& layout, int axis, int64_t i, int64_t* offset) {
  int64_t n = layout.shape[axis];
  if (i < -n || i >= n) return false;
  *offset += (i < 0 ? i + n : i) * layout.strides[axis];
  return true;
}

// The value of a Python integer. False: it is none that an index could be.
bool value_of(PyObject* integer, int64_t* value) {
#if PY_VERSION_HEX < 0x030c0000
  // Of one digit, as nearly all are: without a call.
  if (Py_SIZE(integer) == 1) return *value = reinterpret_cast<PyLongObject*>(integer)->ob_digit[0], true;
#endif
  int beyond = 0;
  *value = PyLong_AsLongLongAndOverflow(integer, &beyond);
  return !beyond;
}

bool step(const Layout& layout, int axis, PyObject* index, int64_t* offset) {
  int64_t at;
  if (PyLong_CheckExact(index)) return value_of(index, &at) && step(layout, axis, at, offset);
  int64_t i;
  return is_scalar(index) && integer_at_once(index, &i) && step(layout, axis, i, offset);
}

// The most frequent cases: whether integers, whose values are there, name an element, and where it stands.
bool names_element(const Layout& layout, PyObject* index, int64_t* offset) {
  *offset = layout.offset;
  if (!PyTuple_CheckExact(index)) return layout.ndim() == 1 && step(layout, 0, index, offset);
  int n = layout.ndim();
  if (PyTuple_GET_SIZE(index) != n) return false;
  for (int i = 0; i < n; ++i)
    if (!step(layout, i, PyTuple_GET_ITEM(index, i), offset)) return false;
  return true;
}

// The part of an array that stands at `offset`, without the first axis.
Array row_at(const Array& a, int64_t offset) {
  Layout to;
  to.dtype = a.layout.dtype, to.offset = offset, to.read_only = a.layout.read_only;
  to.shape = Dims(a.layout.shape.begin() + 1, a.layout.ndim() - 1),
  to.strides = Dims(a.layout.strides.begin() + 1, a.layout.ndim() - 1);
  to.size = product(to.shape);
  return Array(a.storage(), std::move(to));
}

}  // namespace

PyObject* element(const Array& array, int64_t offset) {
  const Buffer& storage = *array.storage();
  const DType t = array.layout.dtype;
  // With the interpreter lock held, and all issued writes over, nobody writes.
  if (storage.settled() && !storage.failure && !capture) return valued(t, storage.budget, storage.data() + offset);
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
PyObject* scalar_of(T value, DType t, Budget* budget) {
  ++Engine::get().at_once.count;
  return valued(t, budget, &value);
}

template <class T>
PyObject* calculated(Slot slot, PyObject* a, PyObject* b, DType t, Budget* budget) {
  using Wraps = std::conditional_t<std::is_same_v<T, int64_t>, uint64_t, T>;
  T x, y;
  if (!read(a, &x) || !read(b, &y)) return nullptr;
  const Wraps p = static_cast<Wraps>(x), q = static_cast<Wraps>(y);
  switch (slot) {
    case Slot::add: return scalar_of(static_cast<T>(p + q), t, budget);
    case Slot::subtract: return scalar_of(static_cast<T>(p - q), t, budget);
    case Slot::multiply: return scalar_of(static_cast<T>(p * q), t, budget);
    case Slot::divide:
      return std::is_same_v<T, int64_t>
                 ? nullptr
                 : scalar_of(static_cast<T>(x / (std::is_same_v<T, int64_t> ? T(1) : y)), t, budget);
    case Slot::less: return scalar_of(x < y, DType::b1, budget);
    case Slot::less_equal: return scalar_of(x <= y, DType::b1, budget);
    case Slot::greater: return scalar_of(x > y, DType::b1, budget);
    case Slot::greater_equal: return scalar_of(x >= y, DType::b1, budget);
    case Slot::equal: return scalar_of(x == y, DType::b1, budget);
    case Slot::not_equal: return scalar_of(x != y, DType::b1, budget);
    default: return nullptr;
  }
}

}  // namespace

PyObject* calculated_at_once(Slot slot, PyObject* a, PyObject* b) {
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
  Budget* budget = one.storage()->budget;
  return guarded([&]() -> PyObject* {
    if (t == DType::f64) return calculated<double>(slot, a, b, t, budget);
    if (t == DType::f32) return calculated<float>(slot, a, b, t, budget);
    return t == DType::i64 ? calculated<int64_t>(slot, a, b, t, budget) : nullptr;
  });
}

PyObject* read_basic(PyObject* self, PyObject* index) {
  Array view;
  bool single = false;
  if (!basic_index(get_array("getitem", self), index, &view, &single)) return nullptr;
  if (single) return element(view, view.layout.offset);
  return is_scalar(self) ? wrap(copied(view, view.layout.dtype, device_of(view))) : wrap(std::move(view));
}

PyObject* get_item(PyObject* self, PyObject* index) {
  if (on_tape(self)) return call_hook(Hook::getitem, self, index, nullptr);
  const Array& a = as_array(self)->array;
  int64_t offset;
  if (a.storage() && names_element(a.layout, index, &offset)) return guarded([&] { return element(a, offset); });
  if (PyLong_CheckExact(index) && a.layout.ndim() > 1 && plain_array(self) &&
      step(a.layout, 0, index, &(offset = a.layout.offset)))
    return guarded([&] { return wrap(row_at(a, offset)); });
  PyObject* found = guarded([&] { return read_basic(self, index); });
  if (!found && !PyErr_Occurred()) found = pick_directly(self, index);
  return found || PyErr_Occurred() ? found : call_hook(Hook::getitem, self, index, nullptr);
}

bool names_element(PyObject* array, PyObject* index, int64_t* offset) {
  return names_element(layout_of(array), index, offset);
}

PyObject* sequence_item(PyObject* self, Py_ssize_t i) {
  const Array& a = as_array(self)->array;
  int64_t offset = a.layout.offset;
  if (a.layout.ndim() == 1 && a.storage() && !on_tape(self)) {
    if (step(a.layout, 0, i, &offset)) return guarded([&] { return element(a, offset); });
    // So ends each iteration: without a C++ exception, which takes as long as reading many elements.
    return PyErr_Format(PyExc_IndexError, "getitem: index must be in [%lld, %lld), got %zd",
                        static_cast<long long>(-a.layout.size), static_cast<long long>(a.layout.size), i);
  }
  if (a.layout.ndim() > 1 && plain_array(self) && step(a.layout, 0, i, &offset))
    return guarded([&] { return wrap(row_at(a, offset)); });
  PyObject* index = PyLong_FromSsize_t(i);
  PyObject* found = index ? get_item(self, index) : nullptr;
  Py_XDECREF(index);
  return found;
}

int set_item(PyObject* self, PyObject* index, PyObject* value) {
  int64_t offset;
  if (value && plain_array(self) && names_element(layout_of(self), index, &offset) && put_at_once(self, offset, value))
    return 0;
  if (!value) return PyErr_SetString(PyExc_TypeError, "delitem: elements of an array must stay, got del"), -1;
  PyObject* checked = guarded([&]() -> PyObject* { return get_writable("setitem", self), Py_None; });
  if (!checked) return -1;
  if (int done = assign_directly(self, index, value)) return done < 0 ? -1 : 0;
  PyObject* done = call_hook(Hook::setitem, self, index, value);
  Py_XDECREF(done);
  return done ? 0 : -1;
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

}  // namespace forerun
