#include "python/runtime/submission/accelerators.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "cpu/kernels/copy/copy.h"
#include "python/bindings.h"
#include "python/runtime/call_sites/call_site.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"

namespace forerun {

bool has_accelerators = false;

namespace {

constexpr size_t kMostFallbacks = 10'000;
// How often each operation ran on the host for lack of code, by its name and line. Guarded by the interpreter lock.
auto& fallbacks = *new std::map<std::pair<const char*, uint32_t>, uint64_t>;

nb::list fallback_counts() {
  nb::list all;
  for (const auto& [what, count] : fallbacks) {
    const Site where = site(what.second);
    all.append(nb::make_tuple(what.first, where.file, where.line, count));
  }
  return all;
}

}  // namespace

void note_fallback(const char* name) {
  if (fallbacks.size() < kMostFallbacks) ++fallbacks[{name, current_site()}];
}

Array host_copy(const Array& array) {
  Array to = Array::make(array.layout.dtype, array.layout.shape, budget_of(0));
  Building op;
  build_copy(*op, array, to);
  op.issue(0, Queue::Kind::copy);
  return to;
}

void init_accelerators(Module& m) {
  m.def("fallback_counts", fallback_counts, nb::sig("def fallback_counts() -> list[tuple[str, str, int, int]]"),
        "Return the operations that accelerators had no code for: name, file, line, and how often.");
  m.def("forget_fallbacks", [] { fallbacks.clear(); });
}

}  // namespace forerun
