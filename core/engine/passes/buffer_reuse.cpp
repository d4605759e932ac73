#include "engine/passes/buffer_reuse.h"

#include <algorithm>

namespace forerun {

namespace {

bool note(Op* op, Op::Reuse pair) {
  return if_memory_allows([&] { op->reused.push_back(pair); });
}

}  // namespace

// Storages that ops of the group are the last to use, and that they only read: each once, as far as the array is large
// enough.
int BufferReuse::find_last_read(Op* first) {
  int n = 0;
  each_access(first, [&](Access& a) {
    Storage& s = *a.storage;
    if (s.in_group == 0) return;  // examined
    const bool ends = a.mode == Mode::read && !s.elided && s.uses == s.in_group && s.taken() && s.only_ops(s.uses);
    s.in_group = 0;
    if (ends && n < kMost) last_read_[n++] = &s;
  });
  return n;
}

size_t BufferReuse::pair(Op* first, bool commit) {
  each_access(first, [](Access& a) { ++a.storage->in_group; });
  int n = find_last_read(first);
  if (n == 0) return 0;
  size_t saved = 0;
  each_access(first, [&](Access& a) {
    Storage& out = *a.storage;
    if (n == 0 || a.mode != Mode::write || out.taken() || out.charged() == 0) return;
    auto fits = [&](Storage* in) {
      return in->bytes == out.bytes && in->budget == out.budget && first->task()->may_share(*first, in, &out);
    };
    auto end = last_read_.begin() + n, found = std::find_if(last_read_.begin(), end, fits);
    if (found == end || !note(first, {*found, &out})) return;
    if (commit && !out.take_over(**found)) return first->reused.pop_back();
    saved += out.bytes;
    (*found)->elided = commit;
    std::move(found + 1, end, found), --n;
  });
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
