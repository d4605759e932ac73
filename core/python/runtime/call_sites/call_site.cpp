#include "python/runtime/call_sites/call_site.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "python/bindings.h"
#include "python/runtime/call_sites/op_names.h"

namespace forerun {

namespace {

// All guarded by the interpreter lock.
std::string package_folder, example_folder, numpy_folder;
PyObject* cell_namer = nullptr;  // a function that names the cell of a notebook by the file name with which it is
                                 // compiled

// Lines by number, counted up without end. When there are kMost of them, they become the `past` ones and counting
// continues with an empty table; the previous `past` ones are forgotten. So a program that generates code does not fill
// the memory, and recently issued operations still have their lines.
constexpr size_t kMost = 1 << 16;
std::vector<Site> sites{Site{}}, past;
uint32_t first_number = 0;                                // of sites[0]
std::map<std::pair<std::string, int>, uint32_t> numbers;  // of `sites`

// The line found for a position in a code object, kept in a small table; an entry holds its code object, so that no
// other one can have its address.
struct Seen {
  PyCodeObject* code = nullptr;
  int offset = 0;
  uint32_t site = 0;           // 0: the package's own code,
  const char* name = nullptr;  // of the function
};
constexpr size_t kInstruction = 2;  // bytes: calls in a function differ by at least that
constexpr size_t kSeen = 4096;      // enough for the calls of a function of about a thousand lines
Seen seen[kSeen];

void start_over() {
  first_number += static_cast<uint32_t>(sites.size());
  past = std::exchange(sites, {});
  numbers.clear();
  for (Seen& entry : seen) entry.offset = -2;  // they hold numbers that will be forgotten
}

void say(uint32_t number, const Site& site) {
  Engine::get().trace.say('s', number, std::to_string(site.line) + " " + site.file);
}

bool in_package(std::string_view path) {
  return !package_folder.empty() && path.starts_with(package_folder) && !path.starts_with(example_folder);
}
bool in_numpy(std::string_view path) { return !numpy_folder.empty() && path.starts_with(numpy_folder); }

// The name of a function of the package; null for others.
const char* name_of(PyCodeObject* code) {
  const char* file = PyUnicode_AsUTF8(code->co_filename);
  if (!file || in_numpy(file)) return PyErr_Clear(), nullptr;
  const char* name = PyUnicode_AsUTF8(code->co_name);
  if (!name) PyErr_Clear();
  return name ? intern_some(name) : nullptr;
}

bool is_cell(std::string_view path) {
  return path.find("/ipykernel_") != path.npos || path.starts_with("<ipython-input-");
}

// In the encoding of file names; empty if memory is exhausted.
std::string encoded(nb::handle name) {
  nb::object bytes = nb::steal(PyUnicode_EncodeFSDefault(name.ptr()));
  PyErr_Clear();
  return bytes ? PyBytes_AS_STRING(bytes.ptr()) : "";
}

// The file of a line, or the name of its cell.
std::string shown_file(PyObject* name) {
  std::string file = encoded(name);
  if (!cell_namer || !is_cell(file)) return file;
  nb::object cell = nb::steal(PyObject_CallOneArg(cell_namer, name));
  PyErr_Clear();
  return cell && PyUnicode_Check(cell.ptr()) ? encoded(cell) : file;
}

uint32_t lookup(PyCodeObject* code, int offset) {
  std::string file = shown_file(code->co_filename);
  if (file.empty()) return 0;
  std::string_view path(file);
  if (in_package(path) || in_numpy(path)) return 0;
  if (sites.size() >= kMost) start_over();
  auto [entry, fresh] =
      numbers.try_emplace({file, PyCode_Addr2Line(code, offset)}, first_number + static_cast<uint32_t>(sites.size()));
  if (fresh) {
    sites.push_back(Site{entry->first.first, entry->first.second});
    say(entry->second, sites.back());
  }
  return entry->second;
}

}  // namespace

namespace {
thread_local uint32_t given = 0;  // set by a SiteScope
}

SiteScope::SiteScope(uint32_t site) : before_(std::exchange(given, site)) {}
void SiteScope::end() { given = before_; }

uint32_t current_site(const char** called) {
  if (given) return given;
  PyFrameObject* frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  uint32_t found = 0;
  while (frame && !found) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    int offset = PyFrame_GetLasti(frame);
    Seen& entry =
        seen[(reinterpret_cast<uintptr_t>(code) / 16 * 31 + static_cast<uintptr_t>(offset) / kInstruction) % kSeen];
    if (entry.code != code || entry.offset != offset) {
      uint32_t number = lookup(code, offset);
      Py_INCREF(code);
      PyCodeObject* old = std::exchange(entry.code, code);
      entry.offset = offset, entry.site = number, entry.name = number ? nullptr : name_of(code);
      Py_XDECREF(old);
    }
    found = entry.site;
    if (called && entry.name) *called = entry.name;
    Py_DECREF(code);
    PyFrameObject* back = found ? nullptr : PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  return found;
}

void say_sites() {
  uint32_t number = first_number - static_cast<uint32_t>(past.size());
  for (const auto* some : {&past, &sites})
    for (const Site& site : *some) say(number++, site);
}

Site site(uint32_t number) {
  if (number >= first_number) return number - first_number < sites.size() ? sites[number - first_number] : Site{};
  uint32_t back = first_number - number;
  return back <= past.size() ? past[past.size() - back] : Site{};
}

void set_package_folder(const std::string& folder, const std::string& examples, const std::string& numpy) {
  package_folder = folder, example_folder = examples, numpy_folder = numpy;
}

void set_cell_namer(PyObject* function) { Py_XSETREF(cell_namer, Py_NewRef(function)); }

nb::object site_tuple(uint32_t number) {
  Site s = site(number);
  if (!s.line) return nb::none();
  return nb::make_tuple(s.file, s.line);
}

void init_call_site(Module& m) {
  m.def("current_site", [] { return site_tuple(current_site()); });
}

}  // namespace forerun
