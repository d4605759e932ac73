#include "python/direct/indexing/fill.h"

#include <cstddef>
#include <cstring>

#include "array/array.h"
#include "cpu/kernels/copy/copy.h"
#include "cpu/kernels/scalar.h"
#include "cpu/loops/item.h"
#include "engine/devices/memory_budget.h"
#include "python/object/conversion/python_scalars.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/submission/at_once.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"

namespace forerun {

void fill_view(const Array& to, PyObject* value) {
  Scalar scalar{};
  if (!put_scalar("assign", value, to.layout.dtype, scalar.bytes)) throw PythonError{};
  const bool few =
      to.layout.size == 1 ||
      (to.layout.size > 0 && static_cast<size_t>(to.layout.nbytes()) <= kFilledAtOnce && to.layout.contiguous());
  if (char* room = few && may_work_at_once() ? room_at_once(to) : nullptr) {
    repeat_item(room, scalar.bytes, item_size(to.layout.dtype), to.layout.size);
    return written_at_once(to);
  }
  Building op;
  build_fill(*op, scalar, to);
  op.issue(device_of(to));
}

bool fit_layout(Layout& values, const Dims& shape) {
  int more = values.ndim() - shape.size();
  for (int i = 0; i < more; ++i)
    if (values.shape[i] != 1) return false;
  if (more > 0)
    values.shape = Dims(values.shape.begin() + more, shape.size()),
    values.strides = Dims(values.strides.begin() + more, shape.size());
  int lead = shape.size() - values.ndim();
  for (int i = 0; i < values.ndim(); ++i)
    if (values.shape[i] != 1 && values.shape[i] != shape[lead + i]) return false;
  return true;
}

namespace {

// The same number of elements of one dtype, few and dense, copied now. False: an operation must do it.
bool copied_at_once(const Array& to, const Array& from) {
  const size_t bytes = static_cast<size_t>(to.layout.nbytes());
  const bool few = bytes && bytes <= kFilledAtOnce && from.layout.dtype == to.layout.dtype &&
                   (from.layout.shape == to.layout.shape || (from.layout.size == 1 && to.layout.size == 1));
  if (!few || !to.layout.contiguous() || !from.layout.contiguous() || !may_work_at_once()) return false;
  const char* values = values_at_once(from);
  char* room = values ? room_at_once(to) : nullptr;
  if (!room) return false;
  std::memmove(room, values, bytes);
  return written_at_once(to), true;
}

}  // namespace

bool copy_into(const Array& to, const Array& from) {
  if (from.same_elements(to)) return true;                                          // `x[i] += y` ends so
  if (is_complex(from.layout.dtype) && !is_complex(to.layout.dtype)) return false;  // which warns
  if (copied_at_once(to, from)) return true;
  Array values = from;
  if (!fit_layout(values.layout, to.layout.shape)) return false;
  Building op;
  build_copy(*op, values, to);
  op.issue(device_of(to));
  return true;
}

}  // namespace forerun
