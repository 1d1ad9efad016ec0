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

// Uses statx: fstat is a symbol only in newer glibc.
std::optional<struct statx> look(int descriptor) {
  struct statx status;
  if (statx(descriptor, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &status) != 0) return std::nullopt;
  return status;
}

// A descriptor of an object that belongs to this user alone; -1 with errno otherwise.
int own_object(const std::string& name, int flags) {
  const int descriptor = shm_open(name.c_str(), O_RDWR | O_CLOEXEC | flags, 0600);
  const auto found = descriptor < 0 ? std::nullopt : look(descriptor);
  if (found && S_ISREG(found->stx_mode) && found->stx_uid == geteuid() && (found->stx_mode & 077) == 0)
    return descriptor;
  const int why = found ? EPERM : errno;
  if (descriptor >= 0) close(descriptor);
  // The kernel itself may refuse an object of another user (fs.protected_regular).
  errno = why == EACCES ? EPERM : why;
  return -1;
}

}  // namespace

// Tries again if the previous owner of the lock unlinked, as the last user, the file that `open` returned.
template <class Open>
SharedFile::Opened SharedFile::open_locked(const Open& open) {
  for (;;) {
    const int descriptor = open();
    if (descriptor < 0) return {};
    const auto found = lock(descriptor) ? look(descriptor) : std::nullopt;
    if (found && found->stx_nlink > 0) return {descriptor, static_cast<size_t>(found->stx_size)};
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
  return SharedFile(open_locked([&] { return own_object(name, O_CREAT); }));
}

int SharedFile::open_object(const std::string& name) { return own_object(name, 0); }

bool SharedFile::has_name(int descriptor) {
  const auto found = look(descriptor);
  return found && found->stx_nlink > 0;
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
