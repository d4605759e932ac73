#include "cpu/kernels/snapshot.h"

#include "cpu/loops/cast.h"
#include "cpu/loops/loop_over.h"

namespace forerun {

char* Snapshot::take(const char* data, DType type, const Dims& shape, Dims& strides) {
  Dims extents = shape, dense(shape.size());
  auto bytes = static_cast<int64_t>(item_size(type));
  for (int axis = shape.size(); axis-- > 0;) {
    if (strides[axis] == 0) {
      extents[axis] = 1;
      continue;
    }
    dense[axis] = bytes;
    bytes *= extents[axis];
  }
  bytes_.reset(new char[static_cast<size_t>(bytes)]);
  const Dims* of[] = {&strides, &dense};
  char* args[] = {const_cast<char*>(data), bytes_.get()};
  loop_over_all(cast_loop(type, type), 2, extents, of, args);
  strides = dense;
  return bytes_.get();
}

}  // namespace forerun
