// What a process does when it forks.
//
// Windows has no fork: a process starts another one only as a new program, which shares no state with it. So what
// guards against forks is never called there.
#pragma once
#ifndef _WIN32
#include <pthread.h>
#include <sys/utsname.h>
#endif

#include <cstdio>

namespace forerun {

// From now on a process that forks calls `before`, and then `parent` there and `child` in its child. Null: nothing.
inline void at_fork([[maybe_unused]] void (*before)(), [[maybe_unused]] void (*parent)(),
                    [[maybe_unused]] void (*child)()) {
#ifndef _WIN32
  pthread_atfork(before, parent, child);
#endif
}

// Whether the pages that a device uses stay those of the process when it forks, and the child gets copies: since Linux
// 5.12, a text as uname() gives it. Before, the first of both that wrote to such a page got another one, which the
// device did not know.
inline bool fork_keeps_registered_pages(const char* release) {
  int major = 0, minor = 0;
  return std::sscanf(release, "%d.%d", &major, &minor) == 2 && (major > 5 || (major == 5 && minor >= 12));
}
inline bool fork_keeps_registered_pages() {  // of this system
#ifdef _WIN32
  return true;
#else
  utsname system{};
  uname(&system);
  return fork_keeps_registered_pages(system.release);
#endif
}

}  // namespace forerun
