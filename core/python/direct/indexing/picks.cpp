#include "python/direct/indexing/picks.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "array/array.h"
#include "python/bindings.h"
#include "python/direct/indexing/positions.h"
#include "python/numpy_api.h"
#include "python/object/array_object.h"
#include "python/object/plain.h"
#include "python/object/views/basic_index.h"
#include "python/runtime/submission/accelerators.h"
#include "python/runtime/submission/at_once.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/wait.h"

namespace forerun {

namespace {

// Gives arrays that broadcast together one shape. False: they do not broadcast.
bool broadcast_all(std::vector<Array>& all) {
  Dims common = all[0].layout.shape;
  bool same = true;
  for (const Array& a : all) {
    const Dims& shape = a.layout.shape;
    same = same && shape == common;
    if (shape.size() > common.size()) {
      Dims wider(shape.size(), 1);
      std::copy(common.begin(), common.end(), wider.end() - common.size());
      common = wider;
    }
    for (int i = 1; i <= shape.size(); ++i) {
      int64_t &have = common[common.size() - i], one = shape[shape.size() - i];
      if (have != one && have != 1 && one != 1) return false;
      if (have == 1) have = one;
    }
  }
  for (Array& a : all)
    if (!same) a = Array(a.storage(), broadcast_to("getitem", a.layout, common));
  return true;
}

class PicksReader {
 public:
  PicksReader(PyObject* self, bool waits, Picks* picks)
      : x_(as_array(self)->array), device_(as_array(self)->device), waits_(waits), picks_(*picks) {}

  bool read(PyObject* index) {
    const nb::object entries = without_ellipsis(index);
    return collect(entries.ptr()) && broadcast_all(picks_.indices);
  }

 private:
  // The index with slices in place of an ellipsis.
  nb::object without_ellipsis(PyObject* index) const {
    if (!PyTuple_CheckExact(index)) return nb::borrow(index);
    const auto* entries = PySequence_Fast_ITEMS(index);
    const Py_ssize_t n = PyTuple_GET_SIZE(index), at = std::find(entries, entries + n, Py_Ellipsis) - entries;
    if (at == n) return nb::borrow(index);
    int axes = 0;
    for (Py_ssize_t i = 0; i < n; ++i) axes += i == at ? 0 : covered(entries[i]);
    nb::object expanded = nb::steal(PyList_New(0));
    for (Py_ssize_t i = 0; i < n; ++i)
      for (int k = i == at ? x_.layout.ndim() - axes : 1; k > 0; --k)
        if (PyList_Append(expanded.ptr(), i == at ? all_of_axis() : entries[i]) < 0) throw nb::python_error();
    return checked(PyList_AsTuple(expanded.ptr()));
  }

  static PyObject* all_of_axis() {
    static PyObject* const all = PySlice_New(nullptr, nullptr, nullptr);
    return all;
  }

  bool collect(PyObject* index) {
    if (!PyTuple_CheckExact(index)) {
      picks_.view = x_;
      return add(index, 0);
    }
    const Py_ssize_t n = PyTuple_GET_SIZE(index);
    int axes = 0;
    for (Py_ssize_t i = 0; i < n; ++i) axes += covered(PyTuple_GET_ITEM(index, i));
    if (axes > x_.layout.ndim() || n < 1) return false;
    bool inside = false, over = false, whole = true;
    int axis = 0;
    for (Py_ssize_t i = 0; i < n; axis += covered(PyTuple_GET_ITEM(index, i++))) {
      PyObject* o = PyTuple_GET_ITEM(index, i);
      bool slice = PySlice_Check(o);
      if (!slice && over) return false;  // NumPy moves the axes of their result to the front
      over = over || (slice && inside), inside = !slice;
      if (slice && !over) ++picks_.axis;
      whole = whole && !slice && !plain_int(o);
      if (!slice && !plain_int(o) && !add(o, axis)) return false;
    }
    if (picks_.indices.empty()) return false;
    if (whole) return picks_.view = x_, true;
    return look_through(index, n);
  }

  // How many axes an entry covers.
  static int covered(PyObject* o) {
    const Array* a = plain_array(o);
    return a && a->layout.dtype == DType::b1 ? a->layout.ndim() : 1;
  }

  // Applies slices and integers, which select a view.
  bool look_through(PyObject* index, Py_ssize_t n) {
    nb::object basic = nb::steal(PyList_New(0));
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject* o = PyTuple_GET_ITEM(index, i);
      for (int k = covered(o); k > 0; --k)
        if (PyList_Append(basic.ptr(), PySlice_Check(o) || plain_int(o) ? o : all_of_axis()) < 0)
          throw nb::python_error();
    }
    return basic_index(x_, checked(PyList_AsTuple(basic.ptr())).ptr(), &picks_.view);
  }

  // Adds the indices of an entry along axes from `axis` on.
  bool add(PyObject* o, int axis) {
    const Dims& shape = x_.layout.shape;
    std::vector<Array> found;
    if (PyList_CheckExact(o)) {
      if (Array list = listed_positions(o, shape[axis], device_); list.storage()) found.push_back(std::move(list));
    } else if (PyArray_CheckExact(o)) {
      if (Array known = known_positions(o, shape[axis], device_); known.storage()) found.push_back(std::move(known));
    } else if (const Array* one = plain_array(o); one && as_array(o)->device == device_ && one->layout.ndim()) {
      const int n = one->layout.ndim();
      if (is_integer(one->layout.dtype))
        found.push_back(*one);
      else if (one->layout.dtype == DType::b1 && axis + n <= shape.size() &&
               std::equal(one->layout.shape.begin(), one->layout.shape.end(), shape.begin() + axis))
        found = where(*one);
    }
    // Positions along axes without elements are not a plain index: the Python function raises the error in the call.
    for (Array& a : found) {
      if (shape[axis++] == 0) return false;
      picks_.indices.push_back(std::move(a));
    }
    return !found.empty();
  }

  std::vector<Array> where(const Array& mask) {
    if (waits_ && mask.layout.size <= kMostSelected && may_work_at_once() && on_host(mask)) wait_for(mask);
    return mask_positions(mask);
  }

  const Array& x_;
  const int device_;
  const bool waits_;
  Picks& picks_;
};

}  // namespace

bool read_picks(PyObject* x, PyObject* index, bool waits, Picks* picks) {
  return PicksReader(x, waits, picks).read(index);
}

}  // namespace forerun
