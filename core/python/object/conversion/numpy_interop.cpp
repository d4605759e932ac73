// Conversion between NumPy's and Python's values and forerun's.
#include "python/object/conversion/numpy_interop.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "array/array.h"
#include "array/iteration_space.h"
#include "cpu/loops/loop.h"
#include "engine/devices/memory_budget.h"
#include "engine/engine.h"
#include "python/front_end.h"
#include "python/numpy_api.h"
#include "python/object/array_object.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/create.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/errors/task_state.h"
#include "python/runtime/submission/accelerators.h"
#include "python/runtime/submission/capture.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/wait.h"

namespace forerun {

// Whether its class has rules of its own, which NumPy's functions respect: one derived from NumPy's array, or another
// library's.
static bool is_foreign(PyObject* o) {
  if (PyArray_Check(o)) return is_derived(o);
  return !PyArray_IsScalar(o, Generic) &&
         (PyObject_HasAttrString(o, "__array_ufunc__") || PyObject_HasAttrString(o, "__array__"));
}

Dims shape_of(PyArrayObject* array) {
  return Dims(reinterpret_cast<const int64_t*>(PyArray_DIMS(array)), PyArray_NDIM(array));
}

Dims strides_of(PyArrayObject* array) {
  return Dims(reinterpret_cast<const int64_t*>(PyArray_STRIDES(array)), PyArray_NDIM(array));
}

bool copy_elements(PyArrayObject* from, Array& to) {
  constexpr int64_t kFew = 1 << 19;  // bytes that are copied faster without NumPy, which lets other threads run
  const bool in_rows = PyArray_IS_C_CONTIGUOUS(from), in_one_piece = in_rows || PyArray_IS_F_CONTIGUOUS(from);
  const bool same_size = static_cast<size_t>(PyArray_ITEMSIZE(from)) == item_size(to.layout.dtype);
  if (same_size && in_one_piece && !in_rows) to.layout.strides = strides_of(from);
  const bool same = typenum_of(to.layout.dtype) == PyArray_TYPE(from) && PyArray_ISBEHAVED_RO(from);
  if (to.layout.nbytes() <= kFew && same && in_one_piece) {
    std::memcpy(to.storage()->data(), PyArray_DATA(from), static_cast<size_t>(to.layout.nbytes()));
    return true;
  }
  PyObject* view = numpy_view(to.layout, to.storage()->data(), true, nullptr);
  const bool copied = view && PyArray_CopyInto(reinterpret_cast<PyArrayObject*>(view), from) == 0;
  Py_XDECREF(view);
  return copied;
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
    PyErr_Format(PyExc_TypeError, "%s: operand must be %s, got %R of type %s", op, kSupportedDTypes,
                 PyArray_DESCR(source), Py_TYPE(o)->tp_name);
    Py_DECREF(any);
    throw PythonError{};
  }
  bool from_python = !PyArray_Check(o) && !PyArray_IsScalar(o, Generic);
  if (from_python && t == DType::f64) t = default_float;
  Array made = Array::make(t, shape_of(source), host_budget_of(device));
  if (!made.storage()->take()) {
    Py_DECREF(any);
    throw std::bad_alloc();
  }
  made.storage()->materialized = true;
  const bool failed = !copy_elements(source, made);
  if (t == DType::b1 && !failed) make_bools(made.storage()->data(), made.layout.size);
  Py_DECREF(any);
  if (failed) throw PythonError{};
  if (made.storage()->budget->device != device) return copied(with_values(std::move(made)), t, device);
  return with_values(std::move(made));
}

PyObject* numpy_view(const Layout& layout, char* data, bool writable, PyObject* base) {
  PyObject* view = PyArray_NewFromDescr(&PyArray_Type, PyArray_DescrFromType(typenum_of(layout.dtype)), layout.ndim(),
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
  const IterationSpace nest = make_iteration_space(layout.shape, strides, 1);
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

// The copy that other libraries see of bools whose bytes are numbers other than 0 and 1: in the copy they are 0 or 1.
PyObject* bools_of(const Array& array) {
  PyObject* raw = numpy_view(array.layout, array.storage()->data(), false, nullptr);
  PyObject* copy = raw ? PyArray_NewCopy(reinterpret_cast<PyArrayObject*>(raw), NPY_CORDER) : nullptr;
  Py_XDECREF(raw);
  if (!copy) return nullptr;
  make_bools(PyArray_BYTES(reinterpret_cast<PyArrayObject*>(copy)), array.layout.size);
  PyArray_CLEARFLAGS(reinterpret_cast<PyArrayObject*>(copy), NPY_ARRAY_WRITEABLE);
  return copy;
}

// A view of memory that an object keeps. Takes over the caller's reference to it.
PyObject* view_kept_by(PyObject* base, const Layout& layout, char* memory, bool writable) {
  PyObject* view = numpy_view(layout, memory, writable, base);
  Py_DECREF(base);
  return view;
}

// Takes over the caller's reference to the block.
PyObject* view_of_block(const Array& array, Block* block) {
  PyObject* base = PyCapsule_New(block, "forerun.block", [](PyObject* c) {
    static_cast<Block*>(PyCapsule_GetPointer(c, "forerun.block"))->release();
  });
  if (!base) return block->release(), nullptr;
  return view_kept_by(base, array.layout, block->data, false);
}

constexpr const char* kArray = "forerun.array";  // the name of capsules that keep an array

// A view of memory that the array shares with NumPy.
PyObject* view_of_array(const Array& array) {
  auto* kept = new Array(array);
  PyObject* base = PyCapsule_New(kept, kArray, [](PyObject* c) {
    InFrontEnd here;
    delete static_cast<Array*>(PyCapsule_GetPointer(c, kArray));
  });
  if (!base) return delete kept, nullptr;
  return view_kept_by(base, array.layout, array.storage()->data(), array.writable());
}

}  // namespace

PyObject* shared_view(const Array& array) {
  if (!on_host(array)) {
    const Array copy = host_copy(array);
    wait_for(copy);
    return shared_view(copy);
  }
  if (bytes_as_bools && !only_bools(array.layout, array.storage()->data())) return bools_of(array);
  return view_of_block(array, array.storage()->share());
}

PyObject* numpy_alias(const Array& array) {
  if (!on_host(array))
    throw Error(ErrorKind::value, "numpy_alias: the array must be on the CPU, got " + device_name(device_of(array)));
  wait_for(array);
  Buffer& storage = *array.storage();
  if (!storage.aliased()) {
    if (in_host_task())
      throw Error(ErrorKind::runtime, "numpy_alias: must be called outside of host tasks, got a call in one");
    wait_mark(Engine::get().ring.next(), "memory shared with NumPy");
  }
  storage.share_writes();
  return view_of_array(array);
}

const Array* array_behind(PyArrayObject* view) {
  PyObject* base = PyArray_BASE(view);
  while (base && PyArray_Check(base)) base = PyArray_BASE(reinterpret_cast<PyArrayObject*>(base));
  return base && PyCapsule_IsValid(base, kArray) ? static_cast<Array*>(PyCapsule_GetPointer(base, kArray)) : nullptr;
}

PyObject* to_numpy(const Array& array) {
  wait_for(array);
  return shared_view(array);
}

}  // namespace forerun
