// Heartbeats of this process, for another process that watches it over a socket.
#pragma once
#include <chrono>
#include <string>

namespace forerun::net {

// Starts a thread that writes a line to a socket at once and after each interval, until that fails, and then closes it.
// It continues while Python holds its lock, so that only a process that does not run at all is silent.
void start_heartbeat(int socket, std::string line, std::chrono::milliseconds interval);

}  // namespace forerun::net
