// The kernel of an operation between ranks, which is handed to the lane of the network.
#pragma once
#include "array/array.h"
#include "engine/operations/op.h"
#include "net/network.h"

namespace forerun::net {

class Collective final : public Kernel {
 public:
  Collective(const char* name, const Call& call, int from, int64_t from_offset, int to, int64_t to_offset)
      : call(call), name_(name), from_(from), to_(to), from_offset_(from_offset), to_offset_(to_offset) {}
  const char* name() const override { return name_; }
  void run(Op&, int64_t) override { throw Error(ErrorKind::runtime, "a network must take it, got a worker"); }
  bool copy_to(Op& op) const override { return op.copy(*this); }

  const void* source(Op& op) const { return from_ < 0 ? nullptr : operand_data(op, from_, from_offset_); }
  void* target(Op& op) const { return to_ < 0 ? nullptr : operand_data(op, to_, to_offset_); }

  Call call;

 private:
  const char* name_;
  int from_, to_;  // numbers of accesses; -1: no access
  int64_t from_offset_, to_offset_;
};

// Fills `op`. token: an array that every operation of a group writes, so that all ranks keep the program's order.
inline void build_collective(Op& op, const char* name, Call call, const Array& token, const Array* from,
                             const Array* to) {
  add(op, token, Mode::update);
  int in = -1, out = -1;
  call.in_place = from && to && from->same_elements(*to);
  if (from && !call.in_place) in = op.n_access, add(op, *from, Mode::read);
  if (to) out = op.n_access, add(op, *to, call.in_place ? Mode::update : to->write_mode());
  if (call.in_place) in = out;
  op.cost = 1000, op.elsewhere = !call.collective();
  op.emplace<Collective>(name, call, in, from ? from->layout.offset : 0, out, to ? to->layout.offset : 0);
}

}  // namespace forerun::net
