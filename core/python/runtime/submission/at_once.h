// Immediate execution without an operation: the front end reads or writes the memory itself.
//
// The conditions, with the interpreter lock held, are those of AtOnceRunner::run(): the values that are read are
// computed, and no pending operation uses the memory that is written. In these cases even building an operation would
// cost more than the work.
#pragma once
#include <cstddef>

#include "array/array.h"
#include "engine/engine.h"

namespace forerun {

// Whether immediate execution is possible now, and no thread records or captures operations.
bool may_work_at_once();

// The first element of an array whose values are computed and not poisoned; null otherwise.
inline const char* values_at_once(const Array& array) {
  const Buffer& storage = *array.storage();
  return storage.settled() && !storage.failure && storage.data() ? storage.data() + array.layout.offset : nullptr;
}

// The same for a read by the program, which need not be reported to a guard, a capture or the profiler.
const char* looked_at_once(const Array& array);

// The memory of a storage that may be written now; null: operations must do it. written_at_once() must follow directly.
inline char* room_at_once(const Buffer& storage) {
  bool free =
      storage.settled() && !storage.failure && storage.unfinished_uses() == 0 && storage.taken() && storage.unshared();
  return free ? storage.data() : nullptr;
}
// The first element of an array in that memory.
inline char* room_at_once(const Array& array) {
  char* room = room_at_once(*array.storage());
  return room ? room + array.layout.offset : nullptr;
}
inline void written_at_once(Buffer& storage) {
  storage.count_write_at_once();
  ++Engine::get().at_once.count;
}
inline void written_at_once(const Array& array) { written_at_once(*array.storage()); }

inline constexpr size_t kFilledAtOnce = 1 << 14;  // bytes of an array that a call fills

// Whether the budget lets a new array allocate its memory now.
bool may_take_at_once(const Array& made);
// A new dense array whose memory is allocated, to be filled; written_at_once() must follow. No storage: memory is not
// available at once.
Array made_at_once(const Layout& dense, int device);
inline Array made_at_once(DType dtype, const Dims& shape, int device) {
  return made_at_once(Layout::dense(dtype, shape), device);
}

}  // namespace forerun
