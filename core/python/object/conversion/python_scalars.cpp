#include "python/object/conversion/python_scalars.h"

#include <cstdint>
#include <cstring>

#include "base/dtype.h"
#include "cpu/loops/cast.h"
#include "cpu/loops/loop.h"
#include "python/bindings.h"

namespace forerun {

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
