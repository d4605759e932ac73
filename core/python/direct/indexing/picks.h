// Indexes with arrays of positions, lists and masks.
#pragma once
#include <Python.h>

#include <algorithm>
#include <vector>

#include "array/array.h"

namespace forerun {

// An index with adjacent arrays of positions.
struct Picks {
  Array view;                  // the view of the array that the other entries select
  std::vector<Array> indices;  // of one shape after reading, along neighbouring axes of the view
  int axis = 0;                // the first of these axes
  Dims shape() const {
    const Dims &all = view.layout.shape, &common = indices[0].layout.shape;
    const int k = static_cast<int>(indices.size());
    Dims found(all.size() - k + common.size());
    auto at = std::copy(all.begin(), all.begin() + axis, found.begin());
    at = std::copy(common.begin(), common.end(), at);
    std::copy(all.begin() + axis + k, all.end(), at);
    return found;
  }
};

// Reads an index of x. waits: whether to wait for the values of masks, which determine the number of elements. False:
// it is another kind of index, for Python to interpret.
bool read_picks(PyObject* x, PyObject* index, bool waits, Picks* picks);

}  // namespace forerun
