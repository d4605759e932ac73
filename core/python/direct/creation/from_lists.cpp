// Plain calls of array and asarray: lists of numbers or arrays, and dense arrays.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "array/array.h"
#include "python/bindings.h"
#include "python/direct/creation/convert.h"
#include "python/direct/creation/creation_arguments.h"
#include "python/direct/creation/from_lists.h"
#include "python/direct/creation/numbers.h"
#include "python/direct/creation/numpy_scalars.h"
#include "python/direct/function_type.h"
#include "python/direct/shape.h"
#include "python/numpy_api.h"
#include "python/object/array_object.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/conversion/numpy_interop.h"
#include "python/object/conversion/numpy_memory.h"
#include "python/object/conversion/python_scalars.h"
#include "python/object/node.h"
#include "python/object/plain.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/submission/at_once.h"
#include "python/runtime/submission/devices.h"

namespace forerun {

namespace {

constexpr size_t kMostListed = 1 << 26;  // numbers, which are copied during the call, as in the Python function

// Whether it is a float from which an array of this dtype can be made: for NumPy's scalars, only if they keep their
// dtype.
bool is_float(PyObject* o, DType t) {
  return PyFloat_CheckExact(o) || (t == DType::f64 && Py_IS_TYPE(o, &PyDoubleArrType_Type));
}

// The array of a list of floats, or of ints.
PyObject* of_vector(PyObject* list, PyObject* dtype) {
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
  PyObject* const* items = PySequence_Fast_ITEMS(list);
  const bool whole = plain_int(items[0]);
  DType t;
  if (ints_become_floats || !may_work_at_once() || !plain_dtype(dtype, &t)) return nullptr;
  if (!whole && !is_float(items[0], t)) return nullptr;
  if (absent(dtype) && whole) t = DType::i64;
  if (whole ? t != DType::i64 : t != DType::f64 && t != DType::f32) return nullptr;
  Array made = made_at_once(t, Dims{static_cast<int64_t>(n)}, here());
  if (!made.storage()) return nullptr;
  char* to = made.storage()->data();
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (whole) {
      int overflow = 0;
      if (!plain_int(items[i])) return nullptr;
      reinterpret_cast<int64_t*>(to)[i] = PyLong_AsLongLongAndOverflow(items[i], &overflow);
      if (overflow) return nullptr;
    } else {
      if (!is_float(items[i], t)) return nullptr;
      const double value = PyFloat_AS_DOUBLE(items[i]);
      if (t == DType::f64)
        reinterpret_cast<double*>(to)[i] = value;
      else if (!fits_float(value))
        return nullptr;
      else
        reinterpret_cast<float*>(to)[i] = static_cast<float>(value);
    }
  }
  written_at_once(made);
  return wrap(std::move(made));
}

// Collects the numbers and scalars in nested lists, in order, and the extents of the lists. False: lists at the same
// depth differ in length, or there are too many.
bool flatten(PyObject* list, int depth, Dims& shape, std::vector<PyObject*>& leaves) {
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
  if (depth == shape.size()) {
    if (n == 0 || depth == Dims::kInline || !leaves.empty()) return false;
    shape.push_back(n);
  }
  if (n != shape[depth]) return false;
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* o = PySequence_Fast_GET_ITEM(list, i);
    if (is_list(o)) {
      if (!flatten(o, depth + 1, shape, leaves)) return false;
    } else {
      if (leaves.size() == kMostListed || depth + 1 != shape.size()) return false;
      leaves.push_back(o);
    }
  }
  return true;
}

// The dtype that NumPy gives one of Python's real numbers. False: it is another object, or too large.
bool dtype_of_number(PyObject* o, DType* t) {
  if (PyBool_Check(o)) return *t = DType::b1, true;
  if (PyFloat_CheckExact(o)) return *t = DType::f64, true;
  int overflow = 0;
  if (!plain_int(o)) return false;
  PyLong_AsLongAndOverflow(o, &overflow);
  return *t = DType::i64, !overflow;
}

// The dtype that NumPy gives a number, if an array of dtype `want` can hold it without a loss that must be reported:
// bool, int64 or float64. False: it is another object.
bool kind_of(PyObject* o, DType want, DType* kind) {
  if (is_float(o, want)) return *kind = DType::f64, fits_float(PyFloat_AS_DOUBLE(o));
  return dtype_of_number(o, kind);
}

template <class T>
void write_numbers(const std::vector<PyObject*>& numbers, char* to) {
  for (PyObject* o : numbers) {
    const T value = PyFloat_Check(o) ? static_cast<T>(PyFloat_AS_DOUBLE(o)) : static_cast<T>(PyLong_AsLongLong(o));
    std::memcpy(std::exchange(to, to + sizeof(T)), &value, sizeof(T));
  }
}

// The array of numbers from lists. Null: there are other objects among them.
PyObject* of_numbers(const std::vector<PyObject*>& numbers, const Dims& shape, PyObject* dtype) {
  DType t = DType::b1, want, kind;
  if (ints_become_floats || !may_work_at_once() || !plain_dtype(dtype, &want)) return nullptr;
  for (PyObject* o : numbers) {
    if (!kind_of(o, want, &kind) || (kind == DType::i64 && want == DType::f32 && !is_exact_as_double(o)))
      return nullptr;
    if (kind == DType::f64 || t == DType::b1) t = kind;
  }
  if (absent(dtype)) want = t == DType::f64 ? default_float : t;
  const bool floats = t == DType::f64 && (want == DType::f32 || want == DType::f64);
  if (!(t == want || floats || (t == DType::i64 && (want == DType::f64 || want == DType::f32)))) return nullptr;
  Array made = made_at_once(want, shape, here());
  if (!made.storage()) return nullptr;
  const auto write = want == DType::f64   ? write_numbers<double>
                     : want == DType::f32 ? write_numbers<float>
                     : want == DType::i64 ? write_numbers<int64_t>
                                          : write_numbers<bool>;
  write(numbers, made.storage()->data());
  written_at_once(made);
  return wrap(std::move(made));
}

// Whether forerun makes an array of dtype t from elements of this dtype and the number.
bool joins(DType t, PyObject* number) {
  if (PyFloat_CheckExact(number)) return t == DType::f64;
  return plain_int(number) ? t == DType::f64 || t == DType::i64 : takes_scalar(t, number);
}

// The dtype of an array without axes, or the one that NumPy gives a number. False: it is another object.
bool dtype_of_leaf(PyObject* leaf, DType* t) {
  if (const Array* one = plain_values(leaf)) return *t = one->layout.dtype, one->layout.ndim() == 0;
  if (dtype_of_number(leaf, t)) return true;
  if (PyComplex_CheckExact(leaf)) return *t = DType::c128, true;
  if (!PyArray_CheckScalar(leaf)) return false;
  const nb::object dtype = nb::steal(reinterpret_cast<PyObject*>(PyArray_DescrFromScalar(leaf)));
  bool known = false;
  if (dtype) *t = dtype_of_typenum(reinterpret_cast<PyArray_Descr*>(dtype.ptr())->type_num, &known);
  return PyErr_Clear(), known;
}

// The dtype to which NumPy promotes two others. False: forerun has no such dtype.
bool promoted(DType a, DType b, DType* t) {
  if (a == DType::bf16 || b == DType::bf16) return false;
  const auto type = [](DType of) { return reinterpret_cast<PyObject*>(PyArray_DescrFromType(typenum_of(of))); };
  const auto descr = [](const nb::object& o) { return reinterpret_cast<PyArray_Descr*>(o.ptr()); };
  const nb::object x = nb::steal(type(a)), y = nb::steal(type(b)),
                   both = nb::steal(reinterpret_cast<PyObject*>(PyArray_PromoteTypes(descr(x), descr(y))));
  bool known = false;
  if (both) *t = dtype_of_typenum(descr(both)->type_num, &known);
  return PyErr_Clear(), known;
}

// The dtype of the array of such leaves: by NumPy's rules that to which all of theirs are promoted, by forerun's that
// of the arrays. False: they do not fit together, or one is another object.
bool common_dtype(const std::vector<PyObject*>& leaves, DType* t) {
  DType own;
  if (!numpy_rules || default_float != DType::f64) {
    *t = layout_of(*std::find_if(leaves.begin(), leaves.end(), is_array)).dtype;
    return std::all_of(leaves.begin(), leaves.end(), [&](PyObject* leaf) {
      return is_array(leaf) ? dtype_of_leaf(leaf, &own) && own == *t : joins(*t, leaf);
    });
  }
  return dtype_of_leaf(leaves[0], t) && std::all_of(leaves.begin(), leaves.end(), [&](PyObject* leaf) {
           return dtype_of_leaf(leaf, &own) && (own == *t || promoted(own, *t, t));
         });
}

// Writes the value of an array without axes, or a number. False: it is not computed, on another device, or does not
// fit.
bool put_leaf(PyObject* leaf, DType t, int device, char* to) {
  nb::object number = nb::borrow(leaf);
  if (is_array(leaf)) {
    const Array* one = plain_values(leaf);
    const bool fits = one && one->layout.ndim() == 0 && as_array(leaf)->device == device;
    const char* value = fits ? values_at_once(*one) : nullptr;
    if (!value) return false;
    if (one->layout.dtype == t) return std::memcpy(to, value, item_size(t)), true;
    number = nb::steal(scalar_at(one->layout.dtype, value));
    // Other integers are rounded once as NumPy's scalars, and twice as Python's.
    if (number && t == DType::f32 && PyLong_CheckExact(number.ptr()) && !is_exact_as_double(number.ptr())) return false;
  }
  const bool good =
      number && converts(number.ptr(), t) && put_scalar("array", number.ptr(), t, reinterpret_cast<unsigned char*>(to));
  return good || (PyErr_Clear(), false);
}

// The array of scalars, or of arrays without axes, with computed values, perhaps mixed with numbers.
PyObject* of_leaves(const std::vector<PyObject*>& leaves, const Dims& shape, PyObject* dtype) {
  if (recording || ints_become_floats || !may_work_at_once()) return nullptr;
  const auto scalar = std::find_if(leaves.begin(), leaves.end(), is_array);
  DType t;
  if (scalar == leaves.end() || !plain_dtype(dtype, &t)) return nullptr;
  if (absent(dtype) && !common_dtype(leaves, &t)) return nullptr;
  const int device = as_array(*scalar)->device;
  Array made = made_at_once(t, shape, device);
  if (!made.storage()) return nullptr;
  char* to = made.storage()->data();
  for (PyObject* leaf : leaves) {
    if (!put_leaf(leaf, t, device, to)) return nullptr;
    to += item_size(t);
  }
  written_at_once(made);
  return wrap(std::move(made));
}

// The array of one number, or a copy of a scalar.
PyObject* of_number(PyObject* o, PyObject* dtype) {
  if (is_scalar(o)) return of_leaves({o}, {}, dtype);
  DType t;
  const bool whole = plain_int(o);
  if (!plain_number(o)) return array_of_scalars(o, {o}, dtype);
  if (!plain_dtype(dtype, &t)) return nullptr;
  if (absent(dtype) && whole) t = ints_become_floats ? default_float : DType::i64;
  const bool exact = t == DType::f64 || (whole && t == DType::i64) ||
                     (t == DType::f32 && (whole ? is_exact_as_double(o) : fits_float(PyFloat_AS_DOUBLE(o))));
  Array made = exact ? numbers_at_once(&o, {}, t, here()) : Array();
  return made.storage() ? wrap(std::move(made)) : array_of_scalars(o, {o}, dtype);
}

// The array of an empty list.
PyObject* of_nothing(PyObject* dtype) {
  DType t;
  Array made = may_work_at_once() && plain_dtype(dtype, &t) ? made_at_once(t, Dims{0}, here()) : Array();
  if (!made.storage()) return nullptr;
  written_at_once(made);
  return wrap(std::move(made));
}

// The array of a list of NumPy arrays, or of classes derived from it, whose dtype forerun keeps.
PyObject* of_numpy_arrays(PyObject* list) {
  PyObject* const* items = PySequence_Fast_ITEMS(list);
  const auto is_numpy_array = [](PyObject* o) { return PyArray_Check(o); };
  if (!std::all_of(items, items + PySequence_Fast_GET_SIZE(list), is_numpy_array)) return nullptr;
  const nb::object all = nb::steal(PyArray_FROM_O(list));
  if (!all) return PyErr_Clear(), nullptr;  // the Python function reports that they differ in shape
  const int kind = PyArray_TYPE(reinterpret_cast<PyArrayObject*>(all.ptr()));
  const bool kept = default_float == DType::f64 || (kind != NPY_DOUBLE && kind != NPY_CDOUBLE);
  return kept ? array_of_numpy(all.ptr()) : nullptr;
}

PyObject* of_list(PyObject* list, PyObject* dtype) {
  if (!is_list(list)) return nullptr;
  if (PySequence_Fast_GET_SIZE(list) == 0) return of_nothing(dtype);
  PyObject* first = PySequence_Fast_GET_ITEM(list, 0);
  if (PyArray_Check(first)) return absent(dtype) ? of_numpy_arrays(list) : nullptr;
  const bool of_arrays = is_array(first) && absent(dtype);
  if (of_arrays && as_array(first)->array.layout.ndim() > 0) return stacked(list);
  if (PyObject* made = of_vector(list, dtype)) return made;
  Dims shape;
  std::vector<PyObject*> leaves;
  PyObject* made = nullptr;
  if (flatten(list, 0, shape, leaves)) {
    made = of_numbers(leaves, shape, dtype);
    if (!made) made = of_leaves(leaves, shape, dtype);
    if (!made) made = array_of_scalars(list, leaves, dtype);
  }
  return made || !of_arrays ? made : stacked(list);
}

// The new array of a list of numbers or arrays, of a range, of a number, or of an array of NumPy, without its class.
PyObject* new_array(PyObject* o, PyObject* dtype) {
  if (is_list(o)) return of_list(o, dtype);
  if (PyRange_Check(o)) {
    const nb::object list = nb::steal(PySequence_List(o));
    return list ? of_list(list.ptr(), dtype) : throw PythonError{};
  }
  if (PyArray_Check(o)) return absent(dtype) ? array_of_numpy(o) : nullptr;
  return of_number(o, dtype);
}

// The array with new axes in front, if it has fewer than n. Takes over the reference.
PyObject* with_axes_in_front(PyObject* made, int n) {
  const int missing = made ? n - layout_of(made).ndim() : 0;
  if (missing <= 0) return made;
  const nb::object array = nb::steal(made);
  const Array& from = as_array(made)->array;
  Layout to = from.layout;
  to.shape = to.strides = Dims();
  for (int i = 0; i < missing; ++i) to.shape.push_back(1), to.strides.push_back(0);
  for (int i = 0; i < from.layout.ndim(); ++i)
    to.shape.push_back(from.layout.shape[i]), to.strides.push_back(from.layout.strides[i]);
  return wrap(Array(from.storage(), std::move(to)));
}

PyObject* array(const DirectCall& call) {
  static constexpr const char* names[] = {"object", "dtype", "copy", "ndmin"};
  PyObject* v[4];
  if (call.n > 2 || !call.arrange(names, v) || !v[0]) return nullptr;
  const bool copies = !v[2] || v[2] == Py_True, if_needed = v[2] == Py_None || v[2] == Py_False;
  if (!copies && !if_needed) return nullptr;
  const long axes = plain_int(v[3]) ? PyLong_AsLong(v[3]) : v[3] ? -1 : 0;
  if (axes < 0 || axes > Dims::kInline) return PyErr_Clear(), nullptr;
  PyObject* made = nullptr;
  if (const Array* a = plain_array(v[0])) {
    DType t = a->layout.dtype;
    if (!absent(v[1]) && !plain_dtype(v[1], &t)) return nullptr;
    if (if_needed && t == a->layout.dtype) return axes <= a->layout.ndim() ? Py_NewRef(v[0]) : nullptr;
    if (v[2] != Py_False) made = converted(v[0], t);
  } else if (copies || (v[2] == Py_None && !(numpy_rules && is_derived(v[0])))) {
    made = new_array(v[0], v[1]);
  }
  return with_axes_in_front(made, static_cast<int>(axes));
}

// An array with at least n axes, new ones in front.
template <int n>
PyObject* at_least(const DirectCall& call) {
  if (call.n != 1 || call.kwnames || PyArray_Check(call.args[0])) return nullptr;
  PyObject* o = call.args[0];
  return with_axes_in_front(plain_array(o) ? Py_NewRef(o) : new_array(o, nullptr), n);
}

// An array on the memory of NumPy's array, without a derived class. Null without an exception set: Python must copy it.
PyObject* on_same_memory(PyObject* array) {
  const nb::object plain =
      is_derived(array) ? nb::steal(PyArray_View(reinterpret_cast<PyArrayObject*>(array), nullptr, &PyArray_Type))
                        : nb::borrow(array);
  if (!plain) throw PythonError{};
  Array made = shared_with_numpy(plain.ptr(), here());
  return made.storage() ? wrap(std::move(made)) : nullptr;
}

PyObject* copy_of(const DirectCall& call) {
  if (call.n != 1 || call.kwnames) return nullptr;
  const Array* a = plain_array(call.args[0]);
  return a ? converted(call.args[0], a->layout.dtype) : new_array(call.args[0], nullptr);
}

// shares: whether the result has the memory of NumPy's array.
PyObject* asarray_of(const DirectCall& call, bool shares) {
  static constexpr const char* names[] = {"a", "dtype"};
  PyObject* v[2];
  if (!call.arrange(names, v) || !v[0]) return nullptr;
  if (const Array* a = plain_array(v[0])) {
    DType t = a->layout.dtype;
    if (!absent(v[1]) && !plain_dtype(v[1], &t)) return nullptr;
    return t == a->layout.dtype ? Py_NewRef(v[0]) : converted(v[0], t);
  }
  if (shares && PyArray_Check(v[0])) return absent(v[1]) ? on_same_memory(v[0]) : nullptr;
  return is_scalar(v[0]) ? nullptr : new_array(v[0], v[1]);
}

PyObject* asarray(const DirectCall& call) { return asarray_of(call, numpy_rules); }

// The same for an operand, which is read; its class may have rules of its own: derived ones are left to the Python
// function.
PyObject* operand(const DirectCall& call) {
  return call.n && is_derived(call.args[0]) ? nullptr : asarray_of(call, false);
}

}  // namespace

PyObject* array_of_list(PyObject* list) { return of_list(list, nullptr); }

PyObject* array_of_number(PyObject* number) { return of_number(number, nullptr); }

PyObject* array_of_numpy(PyObject* array) {
  constexpr npy_intp kMost = 1 << 19;  // bytes, which the thread that issues operations copies
  auto* from = reinterpret_cast<PyArrayObject*>(array);
  bool known;
  const DType t = dtype_of_typenum(PyArray_TYPE(from), &known);
  // MXNet's rules change dtypes.
  if (!known || ints_become_floats || typenum_of(t) != PyArray_TYPE(from) || PyArray_NDIM(from) == 0 ||
      PyArray_NBYTES(from) > kMost || !may_work_at_once())
    return nullptr;
  Array made = made_at_once(t, shape_of(from), here());
  if (!made.storage()) return nullptr;
  if (!copy_elements(from, made)) throw PythonError{};
  if (t == DType::b1) make_bools(made.storage()->data(), made.layout.size);
  written_at_once(made);
  return wrap(std::move(made));
}

void add_direct_lists() {
  add_direct("array", array);
  add_direct("asarray", asarray);
  add_direct("operand", operand);
  add_direct("copy_of", copy_of);
  add_direct("atleast_1d", at_least<1>);
  add_direct("atleast_2d", at_least<2>);
}

}  // namespace forerun
