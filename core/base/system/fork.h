// Handlers of fork.
//
// Windows has no fork: a process starts another one only as a new program, which shares no state with it. There the
// handlers are never called.
#pragma once
#ifndef _WIN32
#include <pthread.h>
#include <sys/utsname.h>
#endif

#include <cstdio>

namespace forerun {

// From now on a fork calls `before`, then `parent` in the parent and `child` in the child. Null: no handler.
inline void at_fork([[maybe_unused]] void (*before)(), [[maybe_unused]] void (*parent)(),
                    [[maybe_unused]] void (*child)()) {
#ifndef _WIN32
  pthread_atfork(before, parent, child);
#endif
}

// Whether, after a fork, the pages that a device uses stay with the parent and the child gets copies: so since Linux
// 5.12 (`release` is that of uname()). Before, the first process that wrote to such a page got another one, unknown to
// the device.
inline bool fork_keeps_registered_pages(const char* release) {
  int major = 0, minor = 0;
  return std::sscanf(release, "%d.%d", &major, &minor) == 2 && (major > 5 || (major == 5 && minor >= 12));
}
inline bool fork_keeps_registered_pages() {  // of the running system
#ifdef _WIN32
  return true;
#else
  utsname system{};
  uname(&system);
  return fork_keeps_registered_pages(system.release);
#endif
}

}  // namespace forerun
