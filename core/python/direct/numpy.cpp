// Plain calls of functions that NumPy computes: for few computed values, NumPy's function runs during the call.
//
// An entry is constructed with NumPy's function, the names and kinds of the parameters, and the kinds of dtypes that
// arrays may have. Calls that NumPy rejects go to the Python function, which raises the error, as do calls with a dtype
// other than forerun's.
//
// Functions that make views get only the layout of the elements. No function writes into an array of the program:
// NumPy's functions may let other threads run, whose writes would be lost where NumPy writes a copy back.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "array/array.h"
#include "base/simd/simd_target.h"
#include "engine/engine.h"
#include "python/bindings.h"
#include "python/direct/creation/creation_arguments.h"
#include "python/direct/creation/from_lists.h"
#include "python/direct/creation/numbers.h"
#include "python/direct/function_type.h"
#include "python/numpy_api.h"
#include "python/object/array_object.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/conversion/numpy_interop.h"
#include "python/object/conversion/numpy_memory.h"
#include "python/object/create.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/submission/accelerators.h"
#include "python/runtime/submission/at_once.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/wait.h"

namespace forerun {

namespace {

constexpr int64_t kMostBytes = 1 << 15;     // of all arrays: as for a host task that runs during the call
constexpr int64_t kMostOfNumpy = 1 << 17;   // the same for NumPy's arrays, which would be copied otherwise
constexpr int64_t kMostCopied = 1 << 10;    // bytes of an array whose copy is passed to NumPy's function
constexpr int64_t kMostOfMatrix = 1 << 10;  // elements
constexpr int64_t kMostNumbers = 1 << 12;   // that NumPy examines; bools are found much faster
constexpr long kMostCount = 64;             // of a result's size given as a number, and of numbers in a list
constexpr Py_ssize_t kMostParameters = 8;

enum class What { values, views };

char kind_of(DType t) {
  if (t == DType::b1) return 'b';
  if (is_integer(t)) return is_signed(t) ? 'i' : 'u';
  return is_complex(t) ? 'c' : 'f';
}

struct NumpyCall {
  What what = What::values;
  bool waits = false;  // the function waits for its arrays in any case
  const char* kinds =
      "";  // of dtypes: b bool, i signed, u unsigned, f float, c complex; F floats of 32 and 64 bits, D of 64 bits
  int64_t bytes = 0, of_numpy = 0;  // of forerun's arrays, and of NumPy's
  int device = -1;
  bool wide = false;                        // there is an array of 64-bit floats
  bool narrow = false;                      // or of shorter ones
  bool all_floats = true;                   // all arrays are of 64-bit floats
  bool all_numbers = true;                  // or of these and 64-bit integers
  bool has_float = false, has_int = false;  // among numbers in place of arrays
  PyObject* gives = Py_None;                // the class of a named tuple
  const Array* first = nullptr;
  PyObject* first_object = nullptr;

  // The argument for a parameter of this kind (src/forerun/ops/_base/primitive.py lists them), as a new reference.
  // Null: not plain.
  PyObject* argument(char sort, PyObject* o) {
    if (what == What::values && sort == 'n' && PyList_CheckExact(o))
      if (PyObject* list = integers(o)) return list;
    if (what == What::values && is_list(o) && std::strchr("aAdhmnrw", sort)) {
      o = listed_.emplace_back(nb::steal(array_of_list(o))).ptr();
      if (!o) return nullptr;
    }
    switch (sort) {
      case 'a': return array(o);                                   // an array
      case 'A': return absent(o) ? Py_NewRef(Py_None) : array(o);  // an array, or None
      case 'd': return vector(o);                                  // a vector
      case 'h': return haystack(o);      // an array of any size, few elements of which are read
      case 'w': return read_in_part(o);  // an array; NumPy's of any size
      case 'r': return looked_at(o);     // bools, any number of them, or some numbers, for which the function waits
      case 'm': return matrix(o);        // a small matrix: its cost grows faster than its size
      case 'e': return PyList_CheckExact(o) ? integers(o) : array(o);  // an array, or a list of ints
      case 'l': return arrays(o);                                      // a tuple or list of arrays
      case 'n': return number(o) ? Py_NewRef(o) : array(o);            // an array, a number, or a list of ints
      case 'i': return plain_int(o) || absent(o) ? Py_NewRef(o ? o : Py_None) : nullptr;  // an axis
      case 'k': return plain_int(o) ? Py_NewRef(o) : nullptr;                             // an int
      case 't': return extents(o) ? Py_NewRef(o) : nullptr;                               // an int, or a tuple of ints
      case 'b': return PyBool_Check(o) ? Py_NewRef(o) : nullptr;
      case 's': return PyUnicode_CheckExact(o) ? Py_NewRef(o) : nullptr;
      case 'S':
        return narrow || !PyUnicode_CheckExact(o) ? nullptr : Py_NewRef(o);  // a str, but not next to short floats
      case 'c': return plain_int(o) && few(o) ? Py_NewRef(o) : nullptr;      // a count
      default: return nullptr;                                               // only the default
    }
  }
  // Whether the numbers get the same dtype as in the Python function: in NumPy they take the arrays' dtype.
  bool fits() const {
    if (has_float && !all_floats) return false;
    return !has_int || all_numbers;
  }

 private:
  std::vector<nb::object> listed_;  // arrays of lists of numbers, for the duration of the call

  bool takes(DType t) const {
    if (std::strchr(kinds, kind_of(t))) return true;
    return (t == DType::f64 && std::strpbrk(kinds, "DF")) || (t == DType::f32 && std::strchr(kinds, 'F'));
  }
  bool note(PyObject* o, const Array& a) {
    if (a.layout.size == 0 || !note(a.layout.dtype, as_array(o)->device))
      return false;  // some functions never return for empty arrays
    if (!first) first = &a, first_object = o;
    return true;
  }
  bool note(DType t, int of_device) {
    if ((device >= 0 && of_device != device) || t == DType::bf16 || !takes(t)) return false;
    device = of_device;
    wide = wide || t == DType::f64 || t == DType::c128;
    narrow = narrow || t == DType::f16 || t == DType::f32;
    all_floats = all_floats && t == DType::f64;
    all_numbers = all_numbers && (t == DType::f64 || t == DType::i64);
    return true;
  }
  // A NumPy array on the values, to which no operation writes while it exists; without values for functions that make
  // views. Null: not plain.
  PyObject* array(PyObject* o) {
    if (what == What::values && PyArray_CheckExact(o)) return as_it_is(o, kMostOfNumpy);
    if (DType t; what == What::values && dtype_of_scalar(o, &t))
      return !ints_become_floats && note(t, here()) ? Py_NewRef(o) : nullptr;
    const Array* a = what == What::views ? plain_array(o) : plain_values(o);
    if (!a || !note(o, *a)) return nullptr;
    if (what == What::views && a->layout.ndim() == 0) return nullptr;  // NumPy makes a number of an array without axes
    if (what == What::views) return numpy_view(a->layout, nowhere(*a), true, nullptr);
    return (bytes += a->layout.nbytes()) > kMostBytes ? nullptr : known(*a);
  }
  // An array of NumPy, which is not copied.
  PyObject* as_it_is(PyObject* o, int64_t most) {
    auto* array = reinterpret_cast<PyArrayObject*>(o);
    bool known = false;
    const DType t = dtype_of_typenum(PyArray_TYPE(array), &known);
    const bool plain = known && !ints_become_floats && PyArray_NDIM(array) > 0 && PyArray_SIZE(array) > 0 &&
                       PyArray_ISBEHAVED_RO(array);
    return plain && (of_numpy += PyArray_NBYTES(array)) <= most && note(t, here()) ? Py_NewRef(o) : nullptr;
  }
  // An array of NumPy of any size, if reading its parts costs less than copying it; or another array.
  PyObject* read_in_part(PyObject* o) {
    if (!PyArray_CheckExact(o)) return array(o);
    const int64_t others = of_numpy;
    PyObject* made = as_it_is(o, INT64_MAX);
    of_numpy = others;
    return made;
  }
  PyObject* known(const Array& a) {
    if (!values_at_once(a)) {
      if (!waits || !on_host(a)) return nullptr;
      wait_for(a);
    }
    const bool plain_bytes = a.layout.dtype != DType::b1 || !bytes_as_bools;
    if (a.layout.nbytes() <= kMostCopied && plain_bytes && a.layout.contiguous()) return copied(a);
    PyObject* made = shared_view(a);
    if (made)
      PyArray_ENABLEFLAGS(reinterpret_cast<PyArrayObject*>(made),
                          NPY_ARRAY_WRITEABLE);  // NumPy sometimes copies arrays that are not writable
    return made;
  }
  static PyObject* copied(const Array& a) {
    auto* type = reinterpret_cast<PyArray_Descr*>(Py_NewRef(dtype_object(a.layout.dtype)));
    auto* shape = reinterpret_cast<const npy_intp*>(a.layout.shape.begin());
    PyObject* made = PyArray_NewFromDescr(&PyArray_Type, type, a.layout.ndim(), shape, nullptr, nullptr, 0, nullptr);
    if (made)
      std::memcpy(PyArray_DATA(reinterpret_cast<PyArrayObject*>(made)), values_at_once(a),
                  static_cast<size_t>(a.layout.nbytes()));
    return made;
  }
  // An address for elements that are never read.
  static char* nowhere(const Array& a) {
    return reinterpret_cast<char*>((uintptr_t{1} << 40) - static_cast<uintptr_t>(a.layout.offset / 16 * 16));
  }

  PyObject* vector(PyObject* o) {
    if (PyArray_CheckExact(o)) return PyArray_NDIM(reinterpret_cast<PyArrayObject*>(o)) == 1 ? array(o) : nullptr;
    const Array* a = plain_array(o);
    return a && a->layout.ndim() == 1 ? array(o) : nullptr;
  }
  PyObject* matrix(PyObject* o) {
    if (PyArray_CheckExact(o))
      return PyArray_SIZE(reinterpret_cast<PyArrayObject*>(o)) <= kMostOfMatrix ? array(o) : nullptr;
    const Array* a = plain_array(o);
    return a && a->layout.size <= kMostOfMatrix ? array(o) : nullptr;
  }
  PyObject* looked_at(PyObject* o) {
    if (PyArray_CheckExact(o)) return as_it_is(o, INT64_MAX);
    const Array* a = plain_values(o);
    if (a && a->layout.dtype != DType::b1 && a->layout.size > kMostNumbers) return nullptr;
    return a && note(o, *a) ? known(*a) : nullptr;
  }
  PyObject* haystack(PyObject* o) {
    if (PyArray_CheckExact(o)) return as_it_is(o, INT64_MAX);
    const Array* a = plain_array(o);
    if (!a || !note(o, *a)) return nullptr;
    if (a->layout.nbytes() > kMostBytes &&
        !(a->layout.contiguous() && (a->layout.dtype == DType::f64 || a->layout.dtype == DType::i64)))
      return nullptr;
    return known(*a);
  }
  // A list of ints unchanged, if arrays are of 64 bits: NumPy then treats it as the Python function does.
  PyObject* integers(PyObject* list) {
    const Py_ssize_t n = PyList_GET_SIZE(list);
    bool good = n > 0 && n <= kMostCount && !ints_become_floats;
    for (Py_ssize_t i = 0; good && i < n; ++i) {
      int beyond = 0;
      good = plain_int(PyList_GET_ITEM(list, i));
      if (good) PyLong_AsLongLongAndOverflow(PyList_GET_ITEM(list, i), &beyond);
      good = good && !beyond;
    }
    has_int = has_int || good;
    return good ? Py_NewRef(list) : nullptr;
  }
  PyObject* arrays(PyObject* list) {
    if (!is_list(list)) return nullptr;
    Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
    nb::object all = nb::steal(PyTuple_New(n));
    for (Py_ssize_t i = 0; all && i < n; ++i) {
      PyObject* item = PySequence_Fast_GET_ITEM(list, i);
      PyObject* one = number(item) ? Py_NewRef(item) : array(item);
      if (!one) return nullptr;
      PyTuple_SET_ITEM(all.ptr(), i, one);
    }
    return n ? all.release().ptr() : nullptr;
  }

  bool number(PyObject* o) {
    if (PyFloat_CheckExact(o)) return has_float = true;
    return plain_int(o) && (has_int = true);
  }
  static bool few(PyObject* o) {
    int overflow = 0;
    long n = PyLong_AsLongAndOverflow(o, &overflow);
    return !overflow && n >= 0 && n <= kMostCount;
  }
  static bool extents(PyObject* o) {
    if (!PyTuple_CheckExact(o)) return plain_int(o);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); ++i)
      if (!plain_int(PyTuple_GET_ITEM(o, i))) return false;
    return true;
  }
};

// Forerun arrays with the results of NumPy's function. Null without an exception set: the results would differ.
PyObject* forerun_results(PyObject* result, const NumpyCall& call) {
  const bool named = call.gives != Py_None && PyTuple_Check(result);
  if (named || is_list(result)) {
    Py_ssize_t n = PySequence_Fast_GET_SIZE(result);
    bool tuple = PyTuple_Check(result);
    nb::object all = nb::steal(tuple ? PyTuple_New(n) : PyList_New(n));
    for (Py_ssize_t i = 0; all && i < n; ++i) {
      PyObject* one = forerun_results(PySequence_Fast_GET_ITEM(result, i), call);
      if (!one) return nullptr;
      if (tuple)
        PyTuple_SET_ITEM(all.ptr(), i, one);
      else
        PyList_SET_ITEM(all.ptr(), i, one);
    }
    return named ? PyObject_CallObject(call.gives, all.ptr()) : all.release().ptr();
  }
  const bool is_array = PyArray_Check(result);
  nb::object values = is_array                                                 ? nb::borrow(result)
                      : PyArray_IsScalar(result, Generic) || plain_int(result) ? nb::steal(PyArray_FROM_O(result))
                                                                               : nb::object();
  if (!values) return nullptr;
  auto* array = reinterpret_cast<PyArrayObject*>(values.ptr());
  int type = PyArray_TYPE(array);
  bool known = false;
  DType t = dtype_of_typenum(type, &known);
  if (!known || ((t == DType::f64 || t == DType::c128) && !call.wide))
    return nullptr;  // NumPy's default float is not forerun's
  // Two references: of the result, and of this function.
  if (Array taken = is_array ? taken_from(result, 2, t, call.device) : Array(); taken.storage())
    return ++Engine::get().at_once.count, wrap(std::move(taken));
  Array made = made_at_once(t, shape_of(array), call.device);
  if (!made.storage()) return nullptr;
  if (PyArray_IS_C_CONTIGUOUS(array) && PyArray_ISNOTSWAPPED(array)) {
    std::memcpy(made.storage()->data(), PyArray_DATA(array), static_cast<size_t>(made.layout.nbytes()));
  } else {
    nb::object to = nb::steal(numpy_view(made.layout, made.storage()->data(), true, nullptr));
    if (!to || PyArray_CopyInto(reinterpret_cast<PyArrayObject*>(to.ptr()), array) < 0) throw PythonError{};
  }
  written_at_once(made);
  return is_array ? wrap(std::move(made)) : wrap_result(std::move(made));
}

// The view of a forerun array whose layout NumPy's function has computed.
PyObject* viewed_as(PyObject* result, PyObject* of, const NumpyCall& call) {
  if (result == of) return Py_NewRef(call.first_object);
  if (!PyArray_Check(result)) return nullptr;
  auto *to = reinterpret_cast<PyArrayObject*>(result), *from = reinterpret_cast<PyArrayObject*>(of);
  bool known = false;
  Layout layout;
  layout.dtype = dtype_of_typenum(PyArray_TYPE(to), &known);
  int64_t distance = static_cast<char*>(PyArray_DATA(to)) - static_cast<char*>(PyArray_DATA(from));
  int64_t size = static_cast<int64_t>(call.first->storage()->bytes), at = call.first->layout.offset + distance;
  if (!known || PyArray_SIZE(to) == 0 || at < 0 || at >= size) return nullptr;
  layout.shape = shape_of(to);
  layout.strides = strides_of(to);
  layout.offset = at;
  layout.size = PyArray_SIZE(to);
  layout.read_only = call.first->layout.read_only || (numpy_rules && !PyArray_ISWRITEABLE(to));
  return wrap(Array(call.first->storage(), std::move(layout)));
}

// data: NumPy's function, the names of the parameters, a letter for each, kinds of dtypes, whether the function waits
// in any case, the class of its result.
template <What what>
PyObject* call_numpy(const DirectCall& call) {
  PyObject *names = PyTuple_GET_ITEM(call.data, 1), *values[kMostParameters] = {};
  const char* sorts = PyUnicode_AsUTF8(PyTuple_GET_ITEM(call.data, 2));
  Py_ssize_t count = PyTuple_GET_SIZE(names), last = 0;
  if (call.n > count || count > kMostParameters || (what != What::views && (recording || !may_work_at_once())))
    return nullptr;
  for (Py_ssize_t i = 0; i < call.n; ++i) values[i] = call.args[i];
  for (Py_ssize_t k = 0; call.kwnames && k < PyTuple_GET_SIZE(call.kwnames); ++k) {
    Py_ssize_t at = 0;
    while (at < count && PyUnicode_Compare(PyTuple_GET_ITEM(call.kwnames, k), PyTuple_GET_ITEM(names, at)) != 0) ++at;
    if (at == count || values[at]) return nullptr;
    values[at] = call.args[call.n + k];
  }
  for (Py_ssize_t i = 0; i < count; ++i)
    if (values[i]) last = i + 1;
  NumpyCall numpy;
  numpy.what = what;
  numpy.kinds = PyUnicode_AsUTF8(PyTuple_GET_ITEM(call.data, 3));
  numpy.gives = PyTuple_GET_ITEM(call.data, 5);
  numpy.waits = PyTuple_GET_ITEM(call.data, 4) == Py_True;
  nb::object given[kMostParameters];
  PyObject* args[kMostParameters];
  PyObject* by_name[kMostParameters];
  Py_ssize_t n = 0, n_named = 0;
  nb::object keys;
  for (Py_ssize_t i = 0; i < last; ++i) {
    if (!values[i]) continue;
    given[i] = nb::steal(numpy.argument(sorts[i], values[i]));
    if (!given[i]) return PyErr_Occurred() ? throw PythonError{} : nullptr;
    if (n == i)
      args[n++] = given[i].ptr();
    else
      by_name[n_named++] = PyTuple_GET_ITEM(names, i), args[n + n_named - 1] = given[i].ptr();
  }
  if (numpy.device < 0 && numpy.has_int) numpy.device = here();  // from integers alone
  if (numpy.device < 0 || !numpy.fits()) return nullptr;
  if (n_named) {
    keys = checked(PyTuple_New(n_named));
    for (Py_ssize_t k = 0; k < n_named; ++k) PyTuple_SET_ITEM(keys.ptr(), k, Py_NewRef(by_name[k]));
  }
  nb::object result =
      nb::steal(PyObject_Vectorcall(PyTuple_GET_ITEM(call.data, 0), args, static_cast<size_t>(n), keys.ptr()));
  PyObject* made = nullptr;
  if constexpr (what == What::views) {
    if (result) made = viewed_as(result.ptr(), args[0], numpy);
  } else if (result) {
    made = forerun_results(result.ptr(), numpy);
  }
  if (!made && PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) throw PythonError{};  // a signal's handler
  if (!made) PyErr_Clear();  // the Python function raises the error
  return made;
}

// An argument for NumPy: it holds no arrays, or is an array with computed values. Null: not plain.
nb::object drawn_from(PyObject* o) {
  bool plain = o == Py_None || plain_number(o) || PyBool_Check(o) || PyUnicode_CheckExact(o) || PyType_Check(o);
  if (is_list(o)) {
    PyObject* const* items = PySequence_Fast_ITEMS(o);
    plain = std::all_of(items, items + PySequence_Fast_GET_SIZE(o), plain_number);
  }
  if (plain) return nb::borrow(o);
  const Array* a = may_work_at_once() ? plain_values(o) : nullptr;
  const bool there = a && a->layout.dtype != DType::bf16 && values_at_once(*a);
  return there ? checked(shared_view(*a)) : nb::object();
}

// A draw from NumPy's streams, as a forerun array; a single number stays NumPy's. data: NumPy's function; and for a
// method, whose first argument is the generator, a function that says whether globals belong to the program's code,
// which alone gets forerun arrays, otherwise None.
PyObject* draw(const DirectCall& call) {
  static thread_local bool inside = false;  // in a draw, where NumPy's methods call one another
  struct Inside {
    const bool before = std::exchange(inside, true);
    ~Inside() { inside = before; }
  };
  PyObject *function = PyTuple_GET_ITEM(call.data, 0), *is_program = PyTuple_GET_ITEM(call.data, 1);
  const bool method = is_program != Py_None;
  const Py_ssize_t n = call.n + (call.kwnames ? PyTuple_GET_SIZE(call.kwnames) : 0);
  if (method && inside)
    return checked(PyObject_Vectorcall(function, call.args, static_cast<size_t>(call.n), call.kwnames)).release().ptr();
  if (call.n < method || n > kMostParameters) return nullptr;
  nb::object given[kMostParameters];
  PyObject* args[kMostParameters];
  for (Py_ssize_t i = 0; i < n; ++i) {
    given[i] = i < method ? nb::borrow(call.args[i]) : drawn_from(call.args[i]);
    if (!given[i]) return nullptr;
    args[i] = given[i].ptr();
  }
  if (method) {
    PyObject* globals = PyEval_GetGlobals();
    nb::object answer = globals ? checked(PyObject_CallOneArg(is_program, globals)) : nb::object();
    if (!answer || answer.ptr() != Py_True) return nullptr;
  }
  nb::object drawn;
  {
    const Inside entered;
    drawn = nb::steal(PyObject_Vectorcall(function, args, static_cast<size_t>(call.n), call.kwnames));
  }
  if (!drawn) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) throw PythonError{};  // a signal's handler
    return PyErr_Clear(), nullptr;                                      // the Python function raises it
  }
  bool known = false;
  if (PyArray_CheckExact(drawn.ptr()))
    dtype_of_typenum(PyArray_TYPE(reinterpret_cast<PyArrayObject*>(drawn.ptr())), &known);
  return known ? wrap(taken(drawn.ptr(), here())) : drawn.release().ptr();
}

}  // namespace

void add_direct_numpy() {
  add_direct("draw", draw);
  add_direct("numpy", call_numpy<What::values>);
  add_direct("numpy_views", call_numpy<What::views>);
}

}  // namespace forerun
