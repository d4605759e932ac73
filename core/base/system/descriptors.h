// Descriptors that event loops poll, and sockets.
#pragma once
#include <array>
#include <string_view>

namespace forerun {

// A descriptor that an event loop polls until this process makes it readable: on Linux an eventfd, on Windows, whose
// loops poll only sockets, a socket, elsewhere the end of a pipe. Not to be used by two threads at once.
class WakeUp {
 public:
  WakeUp();  // throws Error
  ~WakeUp();
  WakeUp(const WakeUp&) = delete;
  int descriptor() const { return ends_[0]; }
  void set();    // makes it readable,
  void clear();  // and no longer readable

 private:
  const std::array<int, 2> ends_;  // to poll, to write to
};

// Sends all bytes on a socket. Returns whether that succeeded.
bool send_all(int socket, std::string_view bytes);
void close_socket(int socket);

}  // namespace forerun
