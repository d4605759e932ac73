#include "bind/site.h"

#include <map>
#include <utility>
#include <vector>

namespace forerun {

namespace {

// All guarded by the interpreter lock.
std::string package_folder, example_folder;
std::vector<Site> sites{Site{}};
std::map<std::pair<std::string, int>, uint32_t> numbers;

// What was found for a place in a code object, kept in a small table; an entry holds its code object, so that no other can take
// its address.
struct Seen {
  PyCodeObject* code = nullptr;
  int offset = 0;
  uint32_t site = 0;  // 0: the package's own code
};
constexpr size_t kSeen = 1024;
Seen seen[kSeen];

uint32_t lookup(PyCodeObject* code, int offset) {
  PyObject* name = PyUnicode_EncodeFSDefault(code->co_filename);
  if (!name) return PyErr_Clear(), 0;
  std::string file = PyBytes_AS_STRING(name);
  Py_DECREF(name);
  std::string_view path(file);
  if (!package_folder.empty() && path.starts_with(package_folder) && !path.starts_with(example_folder)) return 0;
  auto [entry, fresh] = numbers.try_emplace({file, PyCode_Addr2Line(code, offset)}, static_cast<uint32_t>(sites.size()));
  if (fresh) sites.push_back(Site{entry->first.first, entry->first.second});
  return entry->second;
}

}  // namespace

namespace {
thread_local uint32_t said = 0;  // by a SiteScope
}

SiteScope::SiteScope(uint32_t site) : before_(std::exchange(said, site)) {}
void SiteScope::end() { said = before_; }

uint32_t current_site() {
  if (said) return said;
  PyFrameObject* frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  uint32_t found = 0;
  while (frame && !found) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    int offset = PyFrame_GetLasti(frame);
    Seen& entry = seen[(reinterpret_cast<uintptr_t>(code) / 16 * 31 + static_cast<uintptr_t>(offset)) % kSeen];
    if (entry.code != code || entry.offset != offset) {
      uint32_t number = lookup(code, offset);
      Py_INCREF(code);
      PyCodeObject* old = std::exchange(entry.code, code);
      entry.offset = offset, entry.site = number;
      Py_XDECREF(old);
    }
    found = entry.site;
    Py_DECREF(code);
    PyFrameObject* back = found ? nullptr : PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  return found;
}

Site site(uint32_t number) { return number < sites.size() ? sites[number] : Site{}; }

void set_package_folder(const std::string& folder, const std::string& examples) { package_folder = folder, example_folder = examples; }

}  // namespace forerun
