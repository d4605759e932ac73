#include "python/object/conversion/numpy_memory.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "array/array.h"
#include "engine/devices/memory_budget.h"
#include "python/numpy_api.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/conversion/numpy_interop.h"
#include "python/runtime/interpreter/deferred_release.h"
#include "python/runtime/submission/capture.h"
#include "python/runtime/submission/devices.h"

namespace forerun {

namespace {

constexpr int64_t kLeast = int64_t{1} << 17;      // bytes: with fewer, a copy is faster than taking over the memory
constexpr int64_t kLeastLent = int64_t{1} << 14;  // or lending it

struct Giver : DeferredRelease {
  PyObject* array;
  explicit Giver(PyObject* array) : DeferredRelease(end), array(Py_NewRef(array)) {}
  static void end(DeferredRelease* what) {
    auto* self = static_cast<Giver*>(what);
    Py_DECREF(self->array);
    delete self;
  }
  static void drop(void* self) { release_under_gil_later(static_cast<Giver*>(self)); }
};

// Whether only the array, which has `refs` references, uses its memory: it owns the memory, or another array without
// further references does.
bool is_alone(PyArrayObject* array, Py_ssize_t refs) {
  auto* object = reinterpret_cast<PyObject*>(array);
  if (Py_REFCNT(object) > refs) return false;
  if (PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA)) return true;
  PyObject* base = PyArray_BASE(array);
  return base && PyArray_CheckExact(base) && is_alone(reinterpret_cast<PyArrayObject*>(base), 1);
}

Array on_block(Block* block, DType t, PyArrayObject* values) {
  Array made = Array::make(t, shape_of(values), block->budget);
  made.storage()->adopt(block);
  made.storage()->materialized = true;
  return made;
}

// The layout of a NumPy array, with offset 0; no value: forerun's arrays have no such elements.
std::optional<Layout> layout_of_numpy(PyObject* object) {
  if (!PyArray_CheckExact(object)) return {};
  auto* array = reinterpret_cast<PyArrayObject*>(object);
  bool known = false;
  const DType t = dtype_of_typenum(PyArray_TYPE(array), &known);
  if (!known || typenum_of(t) != PyArray_TYPE(array) || !PyArray_ISALIGNED(array) || !PyArray_ISNOTSWAPPED(array))
    return {};
  return strided(t, shape_of(array), strides_of(array), 0);
}

// An array on the memory of a NumPy array, which it keeps alive.
Array on_memory(PyObject* array, Layout layout, int device, bool shared) {
  const auto [low, high] = layout.range();
  layout.offset = -low;
  auto giver = std::make_unique<Giver>(array);
  const auto bytes = static_cast<size_t>(high - low);
  char* data = PyArray_BYTES(reinterpret_cast<PyArrayObject*>(array)) + low;
  auto* block = new Block{data, bytes, nullptr, 1, Giver::drop, giver.release()};
  Array made(Buffer::make(bytes, host_budget_of(device)), std::move(layout));
  shared ? made.storage()->adopt_shared(block) : made.storage()->adopt(block);
  made.storage()->materialized = true;
  return made;
}

}  // namespace

Block* block_of(PyObject* object, Py_ssize_t refs, DType t, MemoryBudget* budget) {
  if (!PyArray_CheckExact(object) || t == DType::b1 || budget->accelerator) return nullptr;
  auto* array = reinterpret_cast<PyArrayObject*>(object);
  const auto bytes = static_cast<int64_t>(PyArray_NBYTES(array));
  bool known = false;
  const bool same = dtype_of_typenum(PyArray_TYPE(array), &known) == t && known;
  if (bytes < kLeast || !same || !PyArray_ISCARRAY(array) || !is_alone(array, refs)) return nullptr;
  auto giver = std::make_unique<Giver>(object);
  auto* block =
      new Block{PyArray_BYTES(array), static_cast<size_t>(bytes), budget, 1, Giver::drop, giver.release(), true};
  budget->charge(block->bytes);
  return block;
}

Array taken_from(PyObject* array, Py_ssize_t refs, DType t, int device) {
  Block* block = block_of(array, refs, t, budget_of(device));
  return block ? on_block(block, t, reinterpret_cast<PyArrayObject*>(array)) : Array();
}

Array lent_by_numpy(PyObject* object, int device) {
  std::optional<Layout> layout = layout_of_numpy(object);
  if (!layout || budget_of(device)->accelerator ||
      PyArray_NBYTES(reinterpret_cast<PyArrayObject*>(object)) < kLeastLent)
    return {};
  layout->read_only = true;
  return on_memory(object, std::move(*layout), device, false);
}

Array shared_with_numpy(PyObject* object, int device) {
  std::optional<Layout> known = layout_of_numpy(object);
  if (!known || budget_of(device)->accelerator) return {};
  Layout& layout = *known;
  auto* array = reinterpret_cast<PyArrayObject*>(object);
  layout.read_only = !PyArray_ISWRITEABLE(array) || layout.overlaps_itself();
  if (layout.dtype == DType::b1) bytes_as_bools = true;
  if (const Array* whole = array_behind(array)) {
    layout.offset = PyArray_BYTES(array) - whole->storage()->data();
    return Array(whole->storage(), std::move(layout));
  }
  return on_memory(object, std::move(layout), device, true);
}

Array taken(PyObject* array, int device) {
  bool known = false;
  const DType t = PyArray_Check(array) ? dtype_of_typenum(PyArray_TYPE(reinterpret_cast<PyArrayObject*>(array)), &known)
                                       : DType::b1;
  Array made = known ? taken_from(array, PY_SSIZE_T_MAX, t, device) : Array();
  return made.storage() ? with_values(std::move(made)) : from_object("array", array, device);
}

}  // namespace forerun
