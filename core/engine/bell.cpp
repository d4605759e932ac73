// Watchers: who is told when writes of a storage have ended, and the bells that call event loops.
#include "engine/bell.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/engine.h"

namespace forerun {

Bell::Bell() : descriptor_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (descriptor_ < 0)
    throw Error(ErrorKind::runtime,
                std::string("await: an eventfd must be there to be had, got: ") + std::strerror(errno));
}

Bell::~Bell() {
  Engine::get().notifier.forget(*this);
  close(descriptor_);
}

// Never blocks: the counter is far from full, as it is read before it is written again.
void Bell::ring() {
  uint64_t one = 1;
  [[maybe_unused]] auto written = write(descriptor_, &one, sizeof one);
}

void Bell::silence() {
  uint64_t count;
  [[maybe_unused]] auto got = read(descriptor_, &count, sizeof count);
}

}  // namespace forerun
