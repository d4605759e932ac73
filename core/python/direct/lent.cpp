#include "python/direct/lent.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "array/array.h"
#include "python/direct/creation/creation_arguments.h"
#include "python/numpy_api.h"
#include "python/object/array_object.h"
#include "python/object/conversion/numpy_memory.h"
#include "python/object/create.h"
#include "python/runtime/submission/capture.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/wait.h"
#include "python/runtime/waiting/submission_gate.h"
#include "python/runtime/waiting/wait_log.h"

namespace forerun {

namespace {

constexpr int64_t kLongest = 4000;  // us of a wait for pending operations, during which signals are not checked
constexpr int64_t kBytes = 32'000;  // per us of it: it takes a quarter of the time of a copy

bool is_dense(PyArrayObject* array) { return PyArray_IS_C_CONTIGUOUS(array) || PyArray_IS_F_CONTIGUOUS(array); }

// Whether it is a matrix whose rows or columns do not overlap, and are contiguous.
bool has_dense_lines(PyArrayObject* array) {
  if (PyArray_NDIM(array) != 2) return false;
  const npy_intp item = PyArray_ITEMSIZE(array);
  auto along = [&](int axis) {
    return PyArray_STRIDE(array, axis) == item && PyArray_STRIDE(array, 1 - axis) >= item * PyArray_DIM(array, axis);
  };
  return along(0) || along(1);
}

}  // namespace

nb::object lent_by(PyObject* numpy, Reader reader) {
  if (!PyArray_CheckExact(numpy) || capture || guards || SubmissionGate::is_closed(std::memory_order_relaxed))
    return {};
  auto* array = reinterpret_cast<PyArrayObject*>(numpy);
  if (!is_dense(array) && !(reader == Reader::product && has_dense_lines(array))) return {};
  Array lent = lent_by_numpy(numpy, here());
  if (!lent.storage() || !all_end_within(std::min<int64_t>(PyArray_NBYTES(array) / kBytes, kLongest))) return {};
  return nb::steal(wrap(std::move(lent)));
}

PyObject* when_ended(PyObject* result) {
  nb::object owned = nb::steal(result);
  if (result) wait_for_end(as_array(result)->array);
  return owned.release().ptr();
}

}  // namespace forerun
