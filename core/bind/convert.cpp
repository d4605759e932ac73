// Between NumPy's and Python's values and ours.
#include <cstring>

#include "bind/array.h"
#include "bind/numpy.h"
#include "bind/program.h"
#include "kernels/loop.h"

namespace forerun {

DType default_float = DType::f32;
bool numpy_rules = false;

namespace {

#define SUPPORTED "bool, integer, float16/32/64, bfloat16 or complex64/128"

constexpr int kNever = -1;  // no NumPy dtype's number
// bfloat16 gets its number from NumPy when ml_dtypes is imported.
int typenums[kDTypes] = {NPY_BOOL,   NPY_INT8, NPY_INT16, NPY_INT32, NPY_INT64,  NPY_UINT8,  NPY_UINT16, NPY_UINT32,
                         NPY_UINT64, NPY_HALF, kNever,    NPY_FLOAT, NPY_DOUBLE, NPY_CFLOAT, NPY_CDOUBLE};

// Takes bfloat16 from ml_dtypes; false with an exception set.
bool learn_bfloat16(PyObject* ml_dtypes) {
  PyObject* type = PyObject_GetAttrString(ml_dtypes, "bfloat16");
  PyArray_Descr* d = nullptr;
  bool good = type && PyArray_DescrConverter(type, &d);
  Py_XDECREF(type);
  if (good) typenums[static_cast<int>(DType::bf16)] = d->type_num;
  Py_XDECREF(reinterpret_cast<PyObject*>(d));
  return good;
}

// A dtype that NumPy did not bring: bfloat16, if ml_dtypes has been imported.
void meet_user_dtype() {
  PyObject* name = PyUnicode_FromString("ml_dtypes");
  PyObject* module = name ? PyImport_GetModule(name) : nullptr;
  if (module) learn_bfloat16(module);
  PyErr_Clear();
  Py_XDECREF(module);
  Py_XDECREF(name);
}

PyArray_Descr* descr(DType t) { return PyArray_DescrFromType(typenums[static_cast<int>(t)]); }

}  // namespace

PyObject* bfloat16() {
  int typenum = typenums[static_cast<int>(DType::bf16)];
  if (typenum == kNever) {
    PyObject* module = PyImport_ImportModule("ml_dtypes");
    if (!module && PyErr_ExceptionMatches(PyExc_ModuleNotFoundError))
      PyErr_SetString(PyExc_ModuleNotFoundError,
                      "bfloat16: package ml_dtypes must be installed (pip install ml_dtypes)");
    bool good = module && learn_bfloat16(module);
    Py_XDECREF(module);
    if (!good) throw PythonError{};
  }
  return dtype_object(DType::bf16);
}

PyObject* dtype_object(DType t) {
  static PyObject* all[kDTypes] = {};
  PyObject*& d = all[static_cast<int>(t)];
  if (!d) d = reinterpret_cast<PyObject*>(descr(t));
  return d;
}

DType dtype_of_typenum(int typenum, bool* known) {
  if (known) *known = true;
  if (typenum == NPY_LONGLONG) return DType::i64;
  if (typenum == NPY_ULONGLONG) return DType::u64;
  if (typenum >= NPY_USERDEF && typenums[static_cast<int>(DType::bf16)] == kNever) meet_user_dtype();
  for (int i = 0; i < kDTypes; ++i)
    if (typenums[i] == typenum) return static_cast<DType>(i);
  if (known) *known = false;
  return DType::f32;
}

DType parse_dtype(const char* op, PyObject* dtype) {
  if (PyUnicode_Check(dtype) && PyUnicode_CompareWithASCIIString(dtype, name(DType::bf16)) == 0) dtype = bfloat16();
  PyArray_Descr* d = nullptr;
  if (!PyArray_DescrConverter(dtype, &d)) throw PythonError{};
  bool known;
  DType t = dtype_of_typenum(d->type_num, &known);
  bool native = PyArray_ISNBO(d->byteorder);
  Py_DECREF(d);
  if (!known || !native) {
    PyErr_Format(PyExc_TypeError, "%s: dtype must be " SUPPORTED " in native byte order, got %R", op, dtype);
    throw PythonError{};
  }
  return t;
}

Dims parse_dims(const char* op, PyObject* o) {
  if (PyIndex_Check(o)) {
    int64_t n = PyNumber_AsSsize_t(o, PyExc_OverflowError);
    if (n == -1 && PyErr_Occurred()) throw PythonError{};
    return Dims{n};
  }
  PyObject* items = PySequence_Fast(o, "shape must be an int or a sequence of ints");
  if (!items) throw PythonError{};
  int n = static_cast<int>(PySequence_Fast_GET_SIZE(items));
  Dims dims(n);
  bool good = true;
  for (int i = 0; i < n && good; ++i) {
    dims[i] = PyNumber_AsSsize_t(PySequence_Fast_GET_ITEM(items, i), PyExc_OverflowError);
    good = !(dims[i] == -1 && PyErr_Occurred());
  }
  Py_DECREF(items);
  if (!good) throw PythonError{};
  if (n > kMaxDims)
    throw Error(ErrorKind::value,
                std::string(op) + ": arrays must have at most 64 dimensions, got " + std::to_string(n));
  return dims;
}

// A class with rules of its own, which NumPy's functions ask: one derived from NumPy's array, or another library's.
static bool is_foreign(PyObject* o) {
  if (PyArray_Check(o)) return !PyArray_CheckExact(o);
  return !PyArray_IsScalar(o, Generic) &&
         (PyObject_HasAttrString(o, "__array_ufunc__") || PyObject_HasAttrString(o, "__array__"));
}

Array from_object(const char* op, PyObject* o, int device) {
  if (numpy_rules && is_foreign(o))
    throw Error(ErrorKind::type,
                std::string(op) + ": operand must not be of a class with rules of its own, got " + Py_TYPE(o)->tp_name);
  PyObject* any = PyArray_FROM_O(o);
  if (!any) throw PythonError{};
  auto* source = reinterpret_cast<PyArrayObject*>(any);
  bool known;
  DType t = dtype_of_typenum(PyArray_TYPE(source), &known);
  if (!known) {
    PyErr_Format(PyExc_TypeError, "%s: operand must be " SUPPORTED ", got %R of type %s", op, PyArray_DESCR(source),
                 Py_TYPE(o)->tp_name);
    Py_DECREF(any);
    throw PythonError{};
  }
  bool from_python = !PyArray_Check(o) && !PyArray_IsScalar(o, Generic);
  if (from_python && t == DType::f64) t = default_float;
  Array made = Array::make(t, Dims(reinterpret_cast<const int64_t*>(PyArray_DIMS(source)), PyArray_NDIM(source)),
                           budget_of(device));
  if (!made.storage()->take()) {
    Py_DECREF(any);
    throw std::bad_alloc();
  }
  made.storage()->materialized = true;
  int failed = 0;
  constexpr int64_t kFew =
      1 << 14;  // bytes that are copied faster without NumPy, which lets other threads run meanwhile
  if (made.layout.nbytes() <= kFew && typenums[static_cast<int>(t)] == PyArray_TYPE(source) &&
      PyArray_ISCARRAY_RO(source)) {
    std::memcpy(made.storage()->data(), PyArray_DATA(source), static_cast<size_t>(made.layout.nbytes()));
  } else {
    PyObject* view = numpy_view(made.layout, made.storage()->data(), true, nullptr);
    failed = view ? PyArray_CopyInto(reinterpret_cast<PyArrayObject*>(view), source) : -1;
    Py_XDECREF(view);
  }
  if (t == DType::b1 && !failed) make_bools(made.storage()->data(), made.layout.size);
  Py_DECREF(any);
  if (failed) throw PythonError{};
  return with_values(std::move(made));
}

PyObject* numpy_view(const Layout& layout, char* data, bool writable, PyObject* base) {
  PyObject* view = PyArray_NewFromDescr(&PyArray_Type, descr(layout.dtype), layout.ndim(),
                                        reinterpret_cast<const npy_intp*>(layout.shape.begin()),
                                        reinterpret_cast<const npy_intp*>(layout.strides.begin()), data + layout.offset,
                                        writable ? NPY_ARRAY_WRITEABLE : 0, nullptr);
  if (view && base) {
    Py_INCREF(base);
    if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(view), base) < 0) Py_CLEAR(view);
  }
  if (view) PyArray_UpdateFlags(reinterpret_cast<PyArrayObject*>(view), NPY_ARRAY_UPDATE_ALL);
  return view;
}

bool bytes_as_bools = false;

void make_bools(char* data, int64_t n) {
  for (int64_t i = 0; i < n; ++i) data[i] = data[i] != 0;
}

bool only_bools(const Layout& layout, const char* data) {
  if (layout.dtype != DType::b1) return true;
  const Dims* strides[] = {&layout.strides};
  const Nest nest = make_nest(layout.shape, strides, 1);
  const int64_t n = nest.shape.back(), step = nest.strides[0].back();
  for (int64_t row = 0, rows = layout.size ? layout.size / n : 0; row < rows; ++row) {
    const char* from = data + layout.offset + offset_at(row, nest.shape, nest.strides[0], nest.shape.size() - 1);
    uint8_t all = 0;
    for (int64_t i = 0; i < n; ++i) all |= static_cast<uint8_t>(from[i * step]);
    if (all > 1) return false;
  }
  return true;
}

namespace {

// What others see of bools whose bytes are other numbers than 0 and 1: a copy that has none.
PyObject* bools_of(const Array& array) {
  PyObject* raw = numpy_view(array.layout, array.storage()->data(), false, nullptr);
  PyObject* copy = raw ? PyArray_NewCopy(reinterpret_cast<PyArrayObject*>(raw), NPY_CORDER) : nullptr;
  Py_XDECREF(raw);
  if (!copy) return nullptr;
  make_bools(PyArray_BYTES(reinterpret_cast<PyArrayObject*>(copy)), array.layout.size);
  PyArray_CLEARFLAGS(reinterpret_cast<PyArrayObject*>(copy), NPY_ARRAY_WRITEABLE);
  return copy;
}

}  // namespace

PyObject* shared_view(const Array& array) {
  if (bytes_as_bools && !only_bools(array.layout, array.storage()->data())) return bools_of(array);
  Block* block = array.storage()->share();
  PyObject* base = PyCapsule_New(block, "forerun.block", [](PyObject* c) {
    static_cast<Block*>(PyCapsule_GetPointer(c, "forerun.block"))->release();
  });
  if (!base) return block->release(), nullptr;
  PyObject* view = numpy_view(array.layout, block->data, false, base);
  Py_DECREF(base);
  return view;
}

PyObject* to_numpy(const Array& array) {
  wait_for(array);
  return shared_view(array);
}

PyObject* scalar_at(DType t, const char* p) {
  auto as = [p]<class T>(T) {
    T v;
    std::memcpy(&v, p, sizeof v);
    return v;
  };
  switch (t) {
    case DType::b1: return PyBool_FromLong(*p != 0);
    case DType::i8: return PyLong_FromLong(as(int8_t{}));
    case DType::i16: return PyLong_FromLong(as(int16_t{}));
    case DType::i32: return PyLong_FromLong(as(int32_t{}));
    case DType::i64: return PyLong_FromLongLong(as(int64_t{}));
    case DType::u8: return PyLong_FromLong(as(uint8_t{}));
    case DType::u16: return PyLong_FromLong(as(uint16_t{}));
    case DType::u32: return PyLong_FromUnsignedLong(as(uint32_t{}));
    case DType::u64: return PyLong_FromUnsignedLongLong(as(uint64_t{}));
    case DType::f32: return PyFloat_FromDouble(as(float{}));
    case DType::f64: return PyFloat_FromDouble(as(double{}));
    case DType::c64: {
      float v[2];
      std::memcpy(v, p, sizeof v);
      return PyComplex_FromDoubles(v[0], v[1]);
    }
    case DType::c128: {
      double v[2];
      std::memcpy(v, p, sizeof v);
      return PyComplex_FromDoubles(v[0], v[1]);
    }
    case DType::f16:
    case DType::bf16: break;
  }
  double v = 0;
  char* args[2] = {const_cast<char*>(p), reinterpret_cast<char*>(&v)};
  intptr_t n = 1, steps[2] = {2, 8};
  Loop loop = cast_loop(t, DType::f64);
  loop.function(args, &n, steps, loop.data);
  return PyFloat_FromDouble(v);
}

namespace {

bool put_integer(const char* op, PyObject* value, DType t, unsigned char* bytes) {
  if (PyFloat_Check(value)) {
    PyErr_Format(PyExc_TypeError, "%s: a float must not become %s without a cast, got %R", op, name(t), value);
    return false;
  }
  PyObject* integer = PyNumber_Index(value);
  if (!integer) return false;
  int overflow = 0;
  long long v = PyLong_AsLongLongAndOverflow(integer, &overflow);
  unsigned long long u = static_cast<unsigned long long>(v);
  bool fits = overflow == 0;
  if (t == DType::u64 && overflow > 0) {
    u = PyLong_AsUnsignedLongLong(integer);
    fits = !PyErr_Occurred();
    PyErr_Clear();
  } else if (fits) {
    int bits = static_cast<int>(item_size(t)) * 8;
    if (is_signed(t))
      fits = bits == 64 || (v >= -(1LL << (bits - 1)) && v < (1LL << (bits - 1)));
    else
      fits = v >= 0 && (bits == 64 || v < (1LL << bits));
  }
  Py_DECREF(integer);
  if (!fits) {
    PyErr_Format(PyExc_OverflowError, "%s: Python integer must fit into %s, got %R", op, name(t), value);
    return false;
  }
  std::memcpy(bytes, &u, item_size(t));
  return true;
}

}  // namespace

bool put_scalar(const char* op, PyObject* value, DType t, unsigned char* bytes) {
  if (t == DType::f32 && PyFloat_CheckExact(value)) {  // by far the most frequent
    float f = static_cast<float>(PyFloat_AS_DOUBLE(value));
    std::memcpy(bytes, &f, 4);
    return true;
  }
  if (is_integer(t)) return put_integer(op, value, t, bytes);
  if (t == DType::b1) {
    int truth = PyObject_IsTrue(value);
    bytes[0] = truth > 0;
    return truth >= 0;
  }
  if (is_complex(t)) {
    Py_complex c = PyComplex_AsCComplex(value);
    if (c.real == -1 && PyErr_Occurred()) return false;
    float f[2] = {static_cast<float>(c.real), static_cast<float>(c.imag)};
    double d[2] = {c.real, c.imag};
    std::memcpy(bytes, t == DType::c64 ? static_cast<void*>(f) : d, item_size(t));
    return true;
  }
  if (PyComplex_Check(value)) {
    PyErr_Format(PyExc_TypeError, "%s: a complex number must not become %s without a cast, got %R", op, name(t), value);
    return false;
  }
  double d = PyLong_CheckExact(value) ? PyLong_AsDouble(value) : PyFloat_AsDouble(value);
  if (d == -1 && PyErr_Occurred()) return false;
  if (t == DType::f64) {
    std::memcpy(bytes, &d, 8);
  } else if (t == DType::f32) {
    float f = static_cast<float>(d);
    std::memcpy(bytes, &f, 4);
  } else {
    char* args[2] = {reinterpret_cast<char*>(&d), reinterpret_cast<char*>(bytes)};
    intptr_t n = 1, steps[2] = {8, 2};
    Loop loop = cast_loop(DType::f64, t);
    loop.function(args, &n, steps, loop.data);
  }
  return true;
}

}  // namespace forerun
