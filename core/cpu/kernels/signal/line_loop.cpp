#include "cpu/kernels/signal/line_loop.h"

#include <algorithm>

#include "array/iteration_space.h"
#include "base/rounding.h"
#include "cpu/loops/loop_over.h"
#include "device/op_spec.h"

namespace forerun {

namespace {

constexpr int64_t kTileNs = 200'000;  // minimum time of a tile: the loop repeats its preparation in each call

// The arguments of the loop besides the operands.
struct Lines {
  Loop loop;
  DType in, out, of_factor;
  Scalar factor;
  intptr_t n = 0, m = 0;               // elements of a line of the input and of the output
  intptr_t in_step = 0, out_step = 0;  // bytes from one of them to the next
};

// Computes some lines, as called by loop_over(): one "element" of an operand is the first of a line.
void call(char** args, const intptr_t* count, const intptr_t* steps, void* data) {
  auto* lines = static_cast<Lines*>(data);
  const intptr_t extents[] = {*count, lines->n, lines->m};
  const intptr_t all[] = {steps[0], 0, steps[1], lines->in_step, lines->out_step};
  char* operands[] = {args[0], reinterpret_cast<char*>(lines->factor.bytes), args[1]};
  lines->loop.function(operands, extents, all, lines->loop.data);
}

class LineKernel final : public Kernel {
 public:
  LineKernel(const char* ufunc, const char* name, const Lines& lines, const IterationSpace& nest, int64_t per_tile,
             int64_t in_offset, int64_t out_offset)
      : ufunc_(ufunc), name_(name), lines_(lines), space_(nest), number_(product(nest.shape)), per_tile_(per_tile),
        in_offset_(in_offset), out_offset_(out_offset) {}
  const char* name() const override { return name_; }
  int64_t tiles() const override { return std::max<int64_t>(1, ceil_div(number_, per_tile_)); }
  bool droppable() const override { return true; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  bool describe(Op&, OpSpec& spec) const override {
    auto lines = [&](int operand, DType t, int64_t n, int64_t step, int64_t offset) {
      Dims shape = space_.shape, strides = space_.strides[operand];
      shape.push_back(n), strides.push_back(step);
      return strided(t, shape, strides, offset);
    };
    spec.kind = "fft", spec.name = ufunc_;
    spec.input(0, lines(0, lines_.in, lines_.n, lines_.in_step, in_offset_));
    spec.scalar(lines_.of_factor, lines_.factor.bytes);
    spec.output(1, lines(1, lines_.out, lines_.m, lines_.out_step, out_offset_));
    spec.set("axis", int64_t{space_.shape.size()});
    return true;
  }
  void run(Op& op, int64_t tile) override {
    const int64_t first = tile * per_tile_, count = std::min(per_tile_, number_ - first);
    if (count <= 0) return;
    char* base[] = {operand_data(op, 0, in_offset_), operand_data(op, 1, out_offset_)};
    const Dims* strides[] = {&space_.strides[0], &space_.strides[1]};
    loop_over(Loop{call, &lines_}, 2, space_.shape, strides, base, nullptr, first, count);
  }

 private:
  const char *ufunc_, *name_;
  Lines lines_;
  IterationSpace space_;
  int64_t number_, per_tile_, in_offset_, out_offset_;
};

}  // namespace

void build_line_loop(Op& op, const char* name, const LineLoop& loop, const Array& in, int axis, const Scalar& factor,
                     int64_t per_line, const Array& out) {
  add(op, in, Mode::read);
  op.add(out.storage(), Mode::write);
  const Layout &from = in.layout, &to = out.layout;
  const Dims shape = without(to.shape, axis), in_strides = without(from.strides, axis),
             out_strides = without(to.strides, axis);
  const Dims* strides[] = {&in_strides, &out_strides};
  const Lines lines{loop.loop,        from.dtype,     to.dtype,           loop.factor,     factor,
                    from.shape[axis], to.shape[axis], from.strides[axis], to.strides[axis]};
  const int64_t per_tile = std::max<int64_t>(1, kTileNs / per_line);
  op.emplace<LineKernel>(loop.ufunc, name, lines, make_iteration_space(shape, strides, 2), per_tile, from.offset,
                         to.offset);
  op.cost = static_cast<uint32_t>(std::min<int64_t>(300 + product(shape) * per_line, INT32_MAX));
}

}  // namespace forerun
