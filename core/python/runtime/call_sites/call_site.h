// The line of the user's program that issued an op.
#pragma once
#include <nanobind/nanobind.h>
#include <cstdint>
#include <string>

namespace forerun {

struct Site {
  std::string file;  // in the encoding of file names
  int line = 0;
};

// Number of the line that is running now: the innermost frame outside the forerun package. 0: there is no such line.
// With the interpreter lock. `called`: set to the name of the package's function that this line has called, if there is
// one; it is never freed.
uint32_t current_site(const char** called = nullptr);
Site site(uint32_t number);
nanobind::object site_tuple(uint32_t number);  // (file, line), or None
void say_sites();                              // writes all known lines to a recording that has begun

// While it lives, operations of this thread count as issued at `site` (unless that is 0); frames are not read.
class SiteScope {
 public:
  explicit SiteScope(uint32_t site);
  ~SiteScope() { end(); }
  void end();

 private:
  const uint32_t before_;
};

// Code of files below this folder does not count as the user's, except below `examples`; nor does code below `numpy`.
void set_package_folder(const std::string& folder, const std::string& examples, const std::string& numpy);

// Sets the function that names the cell of a notebook, by the file name with which it is compiled.
void set_cell_namer(PyObject* function);

}  // namespace forerun
