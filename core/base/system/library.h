// Dynamic libraries that are opened at run time.
#pragma once
#include <string>

namespace forerun {

// Opens a library, which is never unloaded. Libraries opened later do not see its symbols. Returns null if it cannot be
// opened; `error` is then the reason.
void* open_library(const std::string& path, std::string& error);
// A function or variable of the library; null if the library does not define it.
void* find_symbol(void* library, const char* name);

}  // namespace forerun
