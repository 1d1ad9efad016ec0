#include "base/shared_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

namespace gvb {

namespace {

bool lock(int descriptor) {
  while (flock(descriptor, LOCK_EX) != 0)
    if (errno != EINTR) return false;
  return true;
}

struct Found {
  bool linked;
  size_t size;
};

// Uses statx: fstat is a symbol only in newer glibc.
std::optional<Found> look(int descriptor) {
  struct statx status;
  if (statx(descriptor, "", AT_EMPTY_PATH, STATX_NLINK | STATX_SIZE, &status) != 0) return std::nullopt;
  return Found{status.stx_nlink > 0, static_cast<size_t>(status.stx_size)};
}

}  // namespace

// Tries again if the previous owner of the lock unlinked, as the last user, the file that `open` returned.
template <class Open>
SharedFile::Opened SharedFile::open_locked(const Open& open) {
  for (;;) {
    const int descriptor = open();
    if (descriptor < 0) return {};
    const auto found = lock(descriptor) ? look(descriptor) : std::nullopt;
    if (found && found->linked) return {descriptor, found->size};
    const int why = errno;
    close(descriptor);
    errno = why;
    if (!found) return {};
  }
}

SharedFile SharedFile::at_path(const std::string& path) {
  return SharedFile(open_locked([&] { return open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600); }));
}

SharedFile SharedFile::object(const std::string& name) {
  return SharedFile(open_locked([&] { return shm_open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600); }));
}

SharedFile::SharedFile(SharedFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

SharedFile::~SharedFile() {
  if (!opened()) return;
  flock(descriptor_, LOCK_UN);  // closing does not unlock: a mapping keeps the open file, and with it the lock
  close(descriptor_);
}

void* SharedFile::map(size_t bytes) const {
  if (size_ != bytes && ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) return nullptr;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

bool SharedFile::clear(size_t bytes) const {
  return ftruncate(descriptor_, 0) == 0 && ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0;
}

}  // namespace gvb
