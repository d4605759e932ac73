#include "net/heartbeat.h"

#include <signal.h>
#include <unistd.h>

#include <thread>
#include <utility>

namespace forerun::net {

namespace {

void beat(int socket, const std::string& line, std::chrono::milliseconds interval) {
  sigset_t all;  // signals are for threads of the front end
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  while (write(socket, line.data(), line.size()) == static_cast<ssize_t>(line.size()))
    std::this_thread::sleep_for(interval);
  close(socket);
}

}  // namespace

void start_heartbeat(int socket, std::string line, std::chrono::milliseconds interval) {
  std::thread(beat, socket, std::move(line), interval).detach();
}

}  // namespace forerun::net
