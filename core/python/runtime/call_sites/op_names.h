// Names of operations, which live as long as the process.
#pragma once

namespace forerun {

const char* intern(const char* name);       // never freed
const char* intern_some(const char* name);  // the same for names chosen by the program: limits their number

}  // namespace forerun
