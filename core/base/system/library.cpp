#include "base/system/library.h"

#ifdef _WIN32
#include "base/system/windows.h"
#else
#include <dlfcn.h>
#endif

namespace forerun {

#ifdef _WIN32
void* open_library(const std::string& path, std::string& error) {
  const std::wstring name = wide(path.c_str());
  // The libraries that it depends on are searched for in its folder.
  HMODULE library = LoadLibraryExW(name.c_str(), nullptr, LOAD_WITH_ALTERED_SEARCH_PATH);
  if (!library) {
    error = last_error_text();
    return nullptr;
  }
  GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN, name.c_str(), &library);
  return library;
}

void* find_symbol(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}
#else
void* open_library(const std::string& path, std::string& error) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library) return library;
  const char* why = dlerror();
  error = why ? why : "no reason";
  return nullptr;
}

void* find_symbol(void* library, const char* name) { return dlsym(library, name); }
#endif

}  // namespace forerun
