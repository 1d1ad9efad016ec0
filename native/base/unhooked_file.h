// Reads files by system calls alone, so that no preloaded library decides what a proof reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace gvb {

class UnhookedFile {
 public:
  explicit UnhookedFile(const char* path);
  ~UnhookedFile();
  UnhookedFile(const UnhookedFile&) = delete;
  UnhookedFile& operator=(const UnhookedFile&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  // How many bytes were read at `offset`; 0 if none could be.
  size_t read_at(uint64_t offset, void* out, size_t bytes) const;
  // What is left from the current position on; for files of /proc, whose size is unknown.
  std::string rest() const;

 private:
  const long descriptor_;
};

}  // namespace gvb
