// Environment variables of this process.
#pragma once
#include <cstdlib>

namespace forerun {

// Null removes the variable.
inline void set_environment(const char* name, const char* value) {
#ifdef _WIN32
  _putenv_s(name, value ? value : "");
#else
  if (value)
    setenv(name, value, 1);
  else
    unsetenv(name);
#endif
}

}  // namespace forerun
