#include "cpu/kernels/copy/zeros.h"

#include <algorithm>
#include <cstring>

#include "base/system/memory.h"
#include "device/brief_spec.h"
#include "device/op_spec.h"
#include "memory/registered_blocks.h"

namespace forerun {

namespace {

class ZerosKernel final : public Kernel {
 public:
  explicit ZerosKernel(const Layout& layout)
      : dtype_(layout.dtype), size_(layout.size), bytes_(static_cast<size_t>(layout.nbytes())) {}
  const char* name() const override { return "full"; }
  bool droppable() const override { return true; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void run(Op& op, int64_t) override { write_zeros(operand_data(op, 0, 0), bytes_); }

  bool describe(Op&, OpSpec& spec) const override {
    spec.kind = "zeros";
    spec.output(0, Layout::dense(dtype_, {size_}));
    return true;
  }
  bool describe_briefly(BriefSpec& brief) const override {
    brief.put("zeros"), brief.put(dtype_), brief.put(size_);
    return true;
  }

 private:
  DType dtype_;
  int64_t size_;
  size_t bytes_;
};

}  // namespace

void write_zeros(char* data, size_t bytes) {
  constexpr uintptr_t kPage = 4096;
  auto from = reinterpret_cast<uintptr_t>(data), first = (from + kPage - 1) / kPage * kPage,
       last = (from + bytes) / kPage * kPage;
  char *begin = data + (first - from), *end = data + (last - from);
  // A device continues to use registered pages.
  if (RegisteredBlocks::get().holds(data) || !discard_pages(begin, static_cast<size_t>(end - begin)))
    begin = end = data + bytes;
  std::memset(data, 0, static_cast<size_t>(begin - data));
  std::memset(end, 0, static_cast<size_t>(data + bytes - end));
}

void build_zeros(Op& op, const Array& to) {
  op.add(to.storage(), Mode::write);
  op.cost = static_cast<uint32_t>(std::min<int64_t>(3000 + to.layout.nbytes() / 256, INT32_MAX));
  op.emplace<ZerosKernel>(to.layout);
}

}  // namespace forerun
