#include "keeper/relay.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace gvb::keeper {

namespace {
constexpr size_t kMost = 1 << 20;
}

bool Relay::move() {
  if (!open()) return false;
  const ssize_t moved = splice(from_, nullptr, to_, nullptr, kMost, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  if (moved > 0) {
    is_full_ = false;
    return true;
  }
  if (moved < 0 && errno == EINTR) return true;
  if (moved < 0 && errno == EAGAIN) {
    // Either end may be the reason: if there is something to read, the other end is full.
    pollfd readable{from_, POLLIN, 0};
    is_full_ = poll(&readable, 1, 0) == 1 && (readable.revents & POLLIN) != 0;
    return false;
  }
  if (moved < 0 && errno == EPIPE && outlives_reader_) {
    const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    is_full_ = false;
    if (nothing >= 0 && dup2(nothing, to_) >= 0) return close(nothing) == 0;
  }
  // End of file, or no reader is left: the program then sees a closed pipe.
  close_both();
  return false;
}

void Relay::close_both() {
  if (!open()) return;
  close(from_);
  close(to_);
  from_ = -1;
}

}  // namespace gvb::keeper
