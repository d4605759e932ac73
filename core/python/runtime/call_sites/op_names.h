// Names of operations, which live as long as the process.
#pragma once

namespace forerun {

const char* intern(const char* name);       // never freed
const char* intern_some(const char* name);  // the same for names of the program's own: not of endlessly many

}  // namespace forerun
