#include "python/runtime/call_sites/op_names.h"

#include <cstddef>
#include <set>
#include <string>

namespace forerun {

namespace {

std::set<std::string> names;  // guarded by the interpreter lock

}  // namespace

const char* intern(const char* name) { return names.insert(name).first->c_str(); }

const char* intern_some(const char* name) {
  constexpr size_t kMost = 1 << 16;
  if (names.size() < kMost) return intern(name);
  auto known = names.find(name);
  return known == names.end() ? "one of many" : known->c_str();
}

}  // namespace forerun
