#include "cpu/kernels/fusible_operands.h"

namespace forerun {

bool may_share_operands(const Fusible& kernel, Op& op, const Storage* in, const Storage* out) {
  FusibleOperands part;
  kernel.fusible_operands(part);
  bool good = part.n == part.n_in + 1;
  for (int i = 0; i < part.n && good; ++i) {
    const FusibleOperands::Operand& o = part.operand[i];
    if (o.access < 0) continue;
    const Storage* s = op.access(o.access).storage;
    if (s != in && s != out) continue;
    good = !o.nest && o.offset == 0 &&
           part.elements * static_cast<int64_t>(item_size(o.dtype)) == static_cast<int64_t>(s->bytes) &&
           o.dtype == part.operand[part.n_in].dtype;
  }
  return good;
}

}  // namespace forerun
