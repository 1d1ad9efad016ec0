#include "base/unhooked_file.h"

#include <fcntl.h>

#include "base/system_call.h"

namespace gvb {

UnhookedFile::UnhookedFile(const char* path)
    : descriptor_(system_call(SYS_openat, AT_FDCWD, address_of(path), O_RDONLY | O_CLOEXEC)) {}

UnhookedFile::~UnhookedFile() {
  if (is_open()) system_call(SYS_close, descriptor_);
}

size_t UnhookedFile::read_at(uint64_t offset, void* out, size_t bytes) const {
  const long got =
      system_call(SYS_pread64, descriptor_, address_of(out), static_cast<long>(bytes), static_cast<long>(offset));
  return got < 0 ? 0 : static_cast<size_t>(got);
}

std::string UnhookedFile::rest() const {
  std::string text;
  char piece[4096];
  for (;;) {
    const long got = system_call(SYS_read, descriptor_, address_of(piece), sizeof piece);
    if (got <= 0) return text;
    text.append(piece, static_cast<size_t>(got));
  }
}

}  // namespace gvb
