#include "engine/passes/buffer_reuse.h"

#include <algorithm>

namespace forerun {

namespace {

bool note(Op* op, Op::Reuse pair) {
  return if_memory_allows([&] { op->reused.push_back(pair); });
}

}  // namespace

size_t BufferReuse::pair(Op* first, bool commit) {
  size_t saved = 0;
  each_access(first, [](Access& a) { ++a.storage->in_group; });
  each_access(first, [&](Access& w) {
    Storage& out = *w.storage;
    if (w.mode != Mode::write || out.charged() == 0 || out.taken()) return;
    bool found = false;
    each_access(first, [&](Access& r) {
      Storage& in = *r.storage;
      auto taken = [&](const Op::Reuse& pair) { return pair.in == &in; };
      if (std::any_of(first->reused.begin(), first->reused.end(), taken)) return;
      if (found || r.mode != Mode::read || in.elided || in.bytes != out.bytes || in.budget != out.budget || !in.taken())
        return;
      if (in.uses != in.in_group || !in.only_ops(in.uses) || !first->task()->may_share(*first, &in, &out)) return;
      if (!note(first, {&in, &out})) return;
      found = !commit || out.take_over(in);
      if (!found) return first->reused.pop_back();
      saved += out.bytes;
      in.elided = commit;
    });
  });
  each_access(first, [](Access& a) { a.storage->in_group = 0; });
  if (!commit) first->reused.clear();
  return saved;
}

void BufferReuse::undo(Op* op) {
  for (Op::Reuse& pair : op->reused) {
    pair.out->hand_back(*pair.in);
    pair.in->elided = false;
  }
  op->reused.clear();
}

}  // namespace forerun
