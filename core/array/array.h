// An array handle: a storage and a layout. Copying it makes another handle to the same values.
#pragma once
#include <algorithm>
#include <utility>

#include "array/layout.h"
#include "engine/devices/memory_budget.h"
#include "engine/operations/op.h"
#include "memory/buffer.h"

namespace forerun {

class Array {
 public:
  Array() = default;
  Array(Buffer* storage, Layout layout) : layout(std::move(layout)), storage_(storage) {
    if (storage_) storage_->retain_handle();
  }
  // One element of a storage, without axes.
  Array(Buffer* storage, DType dtype, int64_t offset) : storage_(storage) {
    layout.dtype = dtype, layout.offset = offset;
    storage_->retain_handle();
  }
  Array(const Array& o) : Array(o.storage_, o.layout) {}
  Array(Array&& o) noexcept : layout(std::move(o.layout)), storage_(std::exchange(o.storage_, nullptr)) {}
  Array& operator=(Array o) noexcept { return std::swap(layout, o.layout), std::swap(storage_, o.storage_), *this; }
  ~Array() {
    if (storage_) storage_->release_handle();
  }

  // A new dense array without values; its memory is taken when the first op that writes it starts.
  static Array make(DType dtype, const Dims& shape, MemoryBudget* budget) {
    return made(Layout::dense(dtype, shape), budget);
  }

  // The same for the shape of a packed layout, with the axes in the same order.
  static Array make_like(const Layout& packed, DType dtype, MemoryBudget* budget) {
    Layout layout = packed;
    const auto size = static_cast<int64_t>(item_size(dtype)), of_packed = static_cast<int64_t>(item_size(layout.dtype));
    if (size != of_packed)
      for (int64_t& stride : layout.strides) stride = stride / of_packed * size;
    layout.dtype = dtype, layout.read_only = false, layout.offset = 0;
    return made(std::move(layout), budget);
  }

  // The same for any dense layout.
  static Array make(Layout dense, MemoryBudget* budget) { return made(std::move(dense), budget); }

  // The same without axes.
  static Array make_scalar(DType dtype, MemoryBudget* budget) {
    Array made(Buffer::make(item_size(dtype), budget), Layout());
    made.layout.dtype = dtype;
    made.storage_->form.dtype = static_cast<uint8_t>(dtype), made.storage_->form.ndim = 0;
    return made;
  }

  Buffer* storage() const { return storage_; }
  bool covers_storage() const {
    return layout.contiguous() && layout.nbytes() == static_cast<int64_t>(storage_->bytes);
  }
  // Whether it may be written to.
  bool writable() const { return !layout.read_only && !layout.overlaps_itself(); }
  // Whether both are the same view of the same storage.
  bool same_elements(const Array& o) const {
    return storage_ == o.storage_ && layout.dtype == o.layout.dtype && layout.offset == o.layout.offset &&
           layout.shape == o.layout.shape && layout.strides == o.layout.strides;
  }
  // How an op that fills this array writes its storage. An accelerator replaces the values of a whole storage only in C
  // order.
  Mode write_mode() const {
    const bool whole = layout.nbytes() == static_cast<int64_t>(storage_->bytes) &&
                       (storage_->budget->accelerator ? layout.contiguous() : layout.packed());
    return whole ? Mode::write : Mode::update;
  }

  // The failure that poisons its values, or null; to be called once the storage is settled.
  FailurePtr failure() const { return storage_->failure ? storage_->failure_in(layout.region()) : nullptr; }

  Layout layout;

 private:
  static Array made(Layout layout, MemoryBudget* budget) {
    Buffer* storage = Buffer::make(static_cast<size_t>(layout.nbytes()), budget);
    DebugShape& form = storage->form;
    form.dtype = static_cast<uint8_t>(layout.dtype), form.ndim = static_cast<uint8_t>(layout.ndim());
    for (int i = 0; i < std::min(layout.ndim(), DebugShape::kExtents); ++i)
      form.extents[i] = static_cast<uint32_t>(std::min<int64_t>(layout.shape[i], UINT32_MAX));
    return Array(storage, std::move(layout));
  }

  Buffer* storage_ = nullptr;
};

// Adds an array to the operands of an op that reads and writes nothing but the array's elements.
inline void add(Op& op, const Array& array, Mode mode) {
  if (array.layout.nbytes() == static_cast<int64_t>(array.storage()->bytes)) return op.add(array.storage(), mode);
  op.add(array.storage(), mode, array.layout.region());
}
// The same for an access that may read the bytes between the array's elements.
inline void add_loosely(Op& op, const Array& array, Mode mode) {
  add(op, array, mode);
  op.access(op.n_access - 1).loose = true;
}

// First element of an operand while its op runs: `i` is the number of the op's access.
inline char* operand_data(Op& op, int i, int64_t offset) {
  return static_cast<Buffer*>(op.access(i).storage)->data() + offset;
}

}  // namespace forerun
