// Dynamic libraries that are opened at run time.
#pragma once
#include <string>

namespace forerun {

// Opens a library, which is never unloaded. Its symbols do not serve libraries that are opened later. Null: it cannot
// be opened, and `error` says why.
void* open_library(const std::string& path, std::string& error);
// A function or variable of the library; null: it has none of that name.
void* find_symbol(void* library, const char* name);

}  // namespace forerun
