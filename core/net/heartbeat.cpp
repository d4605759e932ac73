#include "net/heartbeat.h"

#include <thread>
#include <utility>

#include "base/system/descriptors.h"
#include "base/system/threads.h"

namespace forerun::net {

namespace {

void beat(int socket, const std::string& line, std::chrono::milliseconds interval) {
  block_signals(all_signals());  // signals are for threads of the front end
  while (send_all(socket, line)) std::this_thread::sleep_for(interval);
  close_socket(socket);
}

}  // namespace

void start_heartbeat(int socket, std::string line, std::chrono::milliseconds interval) {
  std::thread(beat, socket, std::move(line), interval).detach();
}

}  // namespace forerun::net
