#include "python/direct/indexing/fill.h"

#include <cstddef>
#include <cstring>
#include <optional>

#include "array/array.h"
#include "cpu/kernels/copy/copy.h"
#include "cpu/kernels/scalar.h"
#include "cpu/kernels/snapshot.h"
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
  const bool few = to.layout.size > 0 && static_cast<size_t>(to.layout.nbytes()) <= kFilledAtOnce;
  if (char* room = few && may_work_at_once() ? room_at_once(to) : nullptr) {
    if (to.layout.contiguous()) {
      repeat_item(room, scalar.bytes, item_size(to.layout.dtype), to.layout.size);
    } else {
      Layout one;
      one.dtype = to.layout.dtype;
      copy_elements(one, reinterpret_cast<const char*>(scalar.bytes), to.layout, room);
    }
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

// Copies few elements, broadcast to the shape of `to`, at once. False: an operation must do it.
bool copied_at_once(const Array& to, const Array& from) {
  const size_t bytes = static_cast<size_t>(to.layout.nbytes());
  if (!bytes || bytes > kFilledAtOnce || !may_work_at_once()) return false;
  const char* values = values_at_once(from);
  if (!values) return false;
  const bool dense = from.layout.dtype == to.layout.dtype && from.layout.size == to.layout.size &&
                     to.layout.contiguous() && from.layout.contiguous();
  std::optional<Layout> copied;
  Snapshot snapshot;
  if (!dense && overlap(from.storage(), from.layout, to.storage(), to.layout)) {
    copied = from.layout;
    values = snapshot.take(values, copied->dtype, copied->shape, copied->strides);
  }
  char* room = room_at_once(to);
  if (!room) return false;
  copy_elements(copied ? *copied : from.layout, values, to.layout, room);
  return written_at_once(to), true;
}

}  // namespace

bool copy_into(const Array& to, const Array& from) {
  // This is the final step of `x[i] += y`.
  if (from.same_elements(to)) return true;
  if (is_complex(from.layout.dtype) && !is_complex(to.layout.dtype)) return false;  // where NumPy warns
  const bool same = from.layout.shape == to.layout.shape;
  Array fitted = same ? Array() : from;
  if (!same && !fit_layout(fitted.layout, to.layout.shape)) return false;
  const Array& values = same ? from : fitted;
  if (copied_at_once(to, values)) return true;
  Building op;
  build_copy(*op, values, to);
  op.issue(device_of(to));
  return true;
}

}  // namespace forerun
