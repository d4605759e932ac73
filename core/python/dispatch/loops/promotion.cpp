#include "python/dispatch/loops/promotion.h"

#include <cstdint>
#include <vector>

#include "base/dtype.h"
#include "python/bindings.h"
#include "python/object/conversion/dtypes.h"

namespace forerun {

uint8_t promotion[kDTypes][kDTypes];

namespace {

DType complex_of(DType t) {
  return t == DType::f64 || t == DType::c128 || (!is_inexact(t) && default_float == DType::f64) ? DType::c128
                                                                                                : DType::c64;
}

}  // namespace

DType with_weak(DType common, bool known, int weak) {
  if (!known) {
    const DType alone[] = {DType::b1, DType::i64, default_float,
                           default_float == DType::f64 ? DType::c128 : DType::c64};
    return alone[weak];
  }
  if (weak == 3) return is_complex(common) ? common : complex_of(common);
  if (weak == 2) return is_inexact(common) ? common : default_float;
  if (weak == 1) return common == DType::b1 ? DType::i64 : common;
  return common;
}

bool fits_kind(DType from, DType to) {
  auto kind = [](DType d) {
    return d == DType::b1 ? 0 : is_signed(d) ? 2 : is_integer(d) ? 1 : is_real_float(d) ? 3 : 4;
  };
  return kind(from) <= kind(to);
}

void set_promotions(nb::handle table) {
  std::vector<std::vector<int>> rows;
  for (nb::handle row : table) rows.push_back(list_of<int>(row));
  for (int a = 0; a < kDTypes; ++a)
    for (int b = 0; b < kDTypes; ++b) promotion[a][b] = static_cast<uint8_t>(rows.at(a).at(b));
}

}  // namespace forerun
