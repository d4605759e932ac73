// Indexes with arrays of positions, lists and masks.
#pragma once
#include <Python.h>

#include <algorithm>
#include <vector>

#include "array/array.h"

namespace forerun {

// An index with arrays of positions, beside one another, read.
struct Picks {
  Array view;                  // what the other entries make of the array
  std::vector<Array> indices;  // of one shape once they are read, along neighbouring axes of the view
  int axis = 0;                // the first of them
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

// Reads an index of x. waits: for the values of masks, which tell how many elements there are. False: it is another
// kind of index, for Python to read.
bool read_picks(PyObject* x, PyObject* index, bool waits, Picks* picks);

}  // namespace forerun
