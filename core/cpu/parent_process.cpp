#include "cpu/parent_process.h"

#ifdef _WIN32
#include "base/system/windows.h"
#else
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#include <time.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "base/system/threads.h"

namespace forerun {

#ifdef _WIN32
namespace {

uint64_t start_of(HANDLE process) {
  FILETIME started{}, ended, system, own;
  GetProcessTimes(process, &started, &ended, &system, &own);
  return uint64_t{started.dwHighDateTime} << 32 | started.dwLowDateTime;
}

DWORD WINAPI watch(void* process) {
  WaitForSingleObject(process, INFINITE);
  std::_Exit(1);
}

}  // namespace

bool end_with_process(int process, bool is_parent) {
  HANDLE other = OpenProcess(SYNCHRONIZE | PROCESS_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(process));
  // It has ended; or another process has been given its number: the parent of this process is older.
  if (!other || (is_parent && start_of(other) > start_of(GetCurrentProcess()))) std::_Exit(1);
  HANDLE thread = CreateThread(nullptr, size_t{64} << 10, watch, other, STACK_SIZE_PARAM_IS_A_RESERVATION, nullptr);
  CloseHandle(thread ? thread : other);  // the thread continues to run
  return thread != nullptr;
}
#else
namespace {

// The thread's data about the other process; if a process has several watches, the last.
struct Watched {
  int process, file;  // a descriptor of the process; -1: the system lacks them (before Linux 5.3, and other systems)
  bool is_parent;
} watched;

bool gone() {
  return watched.is_parent ? getppid() != watched.process : kill(watched.process, 0) < 0 && errno == ESRCH;
}

int descriptor(int process) {
#ifdef __linux__
  return static_cast<int>(syscall(SYS_pidfd_open, process, 0));
#else
  return static_cast<void>(process), -1;
#endif
}

// Not by the kernel's PR_SET_PDEATHSIG, which reports the end of the thread that has started the process.
void* watch(void*) {
  if (watched.file >= 0) {
    pollfd ends{watched.file, POLLIN, 0};
    while (poll(&ends, 1, -1) < 0 && errno == EINTR) {
    }
  } else {
    while (!gone()) {
      timespec half{0, 500'000'000};
      nanosleep(&half, nullptr);
    }
  }
  _exit(1);
}

}  // namespace

bool end_with_process(int process, bool is_parent) {
  watched = {process, descriptor(process), is_parent};
  if (gone()) _exit(1);  // the number may be another process's by now: checked after the descriptor was made
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, std::max<size_t>(PTHREAD_STACK_MIN, size_t{64} << 10));
  pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
  const SignalsBlocked blocked;
  pthread_t thread;
  bool started = pthread_create(&thread, &small, watch, nullptr) == 0;
  pthread_attr_destroy(&small);
  return started;
}
#endif

}  // namespace forerun
