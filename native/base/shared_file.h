// Memory that processes share by the name of a file or of a shared memory object.
#pragma once

#include <cstddef>
#include <string>

namespace gvb {

// Open and locked (flock) for as long as it lives: those who come at the same time wait until one has made the
// contents. What is mapped stays.
class SharedFile {
 public:
  // Made where there is none; see opened().
  static SharedFile at_path(const std::string& path);
  static SharedFile object(const std::string& name);

  ~SharedFile();
  SharedFile(SharedFile&& other) noexcept;
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  SharedFile& operator=(SharedFile&&) = delete;

  // Whether it is; `errno` says why not.
  bool opened() const { return descriptor_ >= 0; }
  // When it was opened: 0 where it was made by that.
  size_t size() const { return size_; }
  // All of it, which is then so long; nullptr, with errno, where that fails.
  void* map(size_t bytes) const;
  // Sets all bytes to zero, at no cost for pages that were never touched.
  bool clear(size_t bytes) const;

 private:
  struct Opened {
    int descriptor = -1;
    size_t size = 0;
  };
  template <class Open>
  static Opened open_locked(const Open& open);
  explicit SharedFile(const Opened& opened) : descriptor_(opened.descriptor), size_(opened.size) {}

  int descriptor_;
  const size_t size_;
};

}  // namespace gvb
