// Heartbeats: lines arrive one after another, and the thread closes its socket when the other end is closed.
#include "net/heartbeat.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "program.h"

using namespace forerun;
using namespace forerun::test;

int main() {
  int ends[2];
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "two sockets");
  net::start_heartbeat(ends[0], "beat\n", std::chrono::milliseconds(1));
  std::string all;
  char some[64];
  while (all.size() < 50) all.append(some, static_cast<size_t>(read(ends[1], some, sizeof some)));
  for (size_t i = 0; i < 50; ++i) check(all[i] == "beat\n"[i % 5], "lines");
  close(ends[1]);
  while (fcntl(ends[0], F_GETFD) >= 0) usleep(1000);  // no signal ends the process meanwhile
  return 0;
}
