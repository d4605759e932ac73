#include "python/object/conversion/dtypes.h"

#include "base/dtype.h"
#include "cpu/loops/loop.h"
#include "python/numpy_api.h"
#include "python/runtime/errors/errors.h"

namespace forerun {

DType default_float = DType::f32;
bool numpy_rules = false;

namespace {

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

// Looks for a dtype that is not NumPy's own: bfloat16, if ml_dtypes has been imported.
void meet_user_dtype() {
  PyObject* name = PyUnicode_FromString("ml_dtypes");
  PyObject* module = name ? PyImport_GetModule(name) : nullptr;
  if (module) learn_bfloat16(module);
  PyErr_Clear();
  Py_XDECREF(module);
  Py_XDECREF(name);
}

// Whether it is a class of numpy.dtypes, which PyArray_DescrConverter converts to the dtype of objects.
bool is_dtype_class(PyObject* o) {
  return PyType_Check(o) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(o), &PyArrayDescr_Type);
}

bool dtype_of_class(PyObject* kind, PyArray_Descr** d) {
  *d = reinterpret_cast<PyArray_Descr*>(PyObject_CallNoArgs(kind));
  return *d != nullptr;
}

}  // namespace

int typenum_of(DType t) { return typenums[static_cast<int>(t)]; }

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
  if (!d) d = reinterpret_cast<PyObject*>(PyArray_DescrFromType(typenum_of(t)));
  return d;
}

PyObject* scalar_class(DType t) {
  return reinterpret_cast<PyObject*>(reinterpret_cast<PyArray_Descr*>(dtype_object(t))->typeobj);
}

bool dtype_of_class(PyObject* type, DType* t) {
  for (int i = 0; i < kDTypes; ++i) {
    *t = static_cast<DType>(i);
    if (*t != DType::bf16 && type == scalar_class(*t)) return true;
  }
  return false;
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
  if (!(is_dtype_class(dtype) ? dtype_of_class(dtype, &d) : PyArray_DescrConverter(dtype, &d))) throw PythonError{};
  bool known;
  DType t = dtype_of_typenum(d->type_num, &known);
  bool native = PyArray_ISNBO(d->byteorder);
  Py_DECREF(d);
  if (!known || !native) {
    PyErr_Format(PyExc_TypeError, "%s: dtype must be %s in native byte order, got %R", op, kSupportedDTypes, dtype);
    throw PythonError{};
  }
  return t;
}

}  // namespace forerun
