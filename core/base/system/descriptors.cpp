#include "base/system/descriptors.h"

#ifdef _WIN32
#include "base/system/windows.h"
#else
#include <fcntl.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/eventfd.h>
#endif
#endif

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/error.h"

namespace forerun {

namespace {

[[noreturn]] void refuse(const std::string& got) {
  throw Error(ErrorKind::runtime, "await: a descriptor must be there to be had, got: " + got);
}

#ifdef _WIN32
[[noreturn]] void refuse_socket() {
  SetLastError(static_cast<DWORD>(WSAGetLastError()));
  refuse(last_error_text());
}

// A socket that is closed unless it is taken.
class Socket {
 public:
  explicit Socket(SOCKET socket) : socket_(socket) {
    if (socket == INVALID_SOCKET) refuse_socket();
    SetHandleInformation(reinterpret_cast<HANDLE>(socket), HANDLE_FLAG_INHERIT, 0);
  }
  Socket(const Socket&) = delete;
  ~Socket() {
    if (socket_ != INVALID_SOCKET) closesocket(socket_);
  }
  operator SOCKET() const { return socket_; }
  // Handles of the kernel have 32 bits at most.
  int take() { return static_cast<int>(std::exchange(socket_, INVALID_SOCKET)); }

 private:
  SOCKET socket_;
};

sockaddr_in own_address(SOCKET socket) {
  sockaddr_in address{};
  int size = sizeof address;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) refuse_socket();
  return address;
}

sockaddr_in peer_address(SOCKET socket) {
  sockaddr_in address{};
  int size = sizeof address;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) refuse_socket();
  return address;
}

// Windows has no pairs of sockets: one connects to the other over the loopback interface.
std::array<int, 2> make_ends() {
  WSADATA unused;
  static const int started = WSAStartup(MAKEWORD(2, 2), &unused);
  if (started != 0) refuse("no sockets");
  sockaddr_in address{};
  address.sin_family = AF_INET, address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Socket listening(socket(AF_INET, SOCK_STREAM, 0)), writing(socket(AF_INET, SOCK_STREAM, 0));
  if (bind(listening, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(listening, 1) != 0)
    refuse_socket();
  address = own_address(listening);
  if (connect(writing, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) refuse_socket();
  Socket polled(accept(listening, nullptr, nullptr));
  if (peer_address(polled).sin_port != own_address(writing).sin_port) refuse("a connection of another process");
  u_long on = 1;
  if (ioctlsocket(polled, FIONBIO, &on) != 0 || ioctlsocket(writing, FIONBIO, &on) != 0) refuse_socket();
  const BOOL at_once = TRUE;
  setsockopt(writing, IPPROTO_TCP, TCP_NODELAY, reinterpret_cast<const char*>(&at_once), sizeof at_once);
  return {polled.take(), writing.take()};
}

auto read_some(int end, void* to, size_t bytes) {
  return recv(static_cast<SOCKET>(end), static_cast<char*>(to), static_cast<int>(bytes), 0);
}
auto write_some(int end, const void* from, size_t bytes) {
  return send(static_cast<SOCKET>(end), static_cast<const char*>(from), static_cast<int>(bytes), 0);
}
void close_end(int end) { closesocket(static_cast<SOCKET>(end)); }
#else
std::array<int, 2> make_ends() {
#ifdef __linux__
  const int both = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (both >= 0) return {both, both};
#else
  std::array<int, 2> ends;
  if (pipe(ends.data()) == 0) {
    for (int end : ends) fcntl(end, F_SETFL, O_NONBLOCK), fcntl(end, F_SETFD, FD_CLOEXEC);
    return ends;
  }
#endif
  refuse(std::strerror(errno));
}

auto read_some(int end, void* to, size_t bytes) { return read(end, to, bytes); }
auto write_some(int end, const void* from, size_t bytes) { return write(end, from, bytes); }
void close_end(int end) { close(end); }
#endif

}  // namespace

WakeUp::WakeUp() : ends_(make_ends()) {}

WakeUp::~WakeUp() {
  close_end(ends_[0]);
  if (ends_[1] != ends_[0]) close_end(ends_[1]);
}

// Never blocks: a counter is far from full, and a full pipe is readable already.
void WakeUp::set() {
  uint64_t one = 1;
  [[maybe_unused]] auto written = write_some(ends_[1], &one, sizeof one);
}

// The first read empties a counter; a pipe holds all bytes written since the last clear().
void WakeUp::clear() {
  uint64_t count;
  while (read_some(ends_[0], &count, sizeof count) > 0 && ends_[1] != ends_[0]) {
  }
}

bool send_all(int socket, std::string_view bytes) {
  return write_some(socket, bytes.data(), bytes.size()) == static_cast<decltype(write_some(0, "", 0))>(bytes.size());
}

void close_socket(int socket) { close_end(socket); }

}  // namespace forerun
