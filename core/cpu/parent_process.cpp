#include "cpu/parent_process.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace forerun {

namespace {

// The thread's data about the other process; of several watches in a process, the last.
struct Watched {
  int process, file;  // a descriptor of the process; -1: the system has none such (before Linux 5.3)
  bool is_parent;
} watched;

bool gone() {
  return watched.is_parent ? getppid() != watched.process : kill(watched.process, 0) < 0 && errno == ESRCH;
}

// Not the kernel's own way (PR_SET_PDEATHSIG), which tells of the end of the thread that has started the process.
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
  watched = {process, static_cast<int>(syscall(SYS_pidfd_open, process, 0)), is_parent};
  if (gone()) _exit(1);  // the number may be another process's by now: looked at after the descriptor was made
  sigset_t all, before;
  sigfillset(&all);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, std::max<size_t>(PTHREAD_STACK_MIN, size_t{64} << 10));
  pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals belong to the front end's threads
  pthread_t thread;
  bool started = pthread_create(&thread, &small, watch, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&small);
  return started;
}

}  // namespace forerun
