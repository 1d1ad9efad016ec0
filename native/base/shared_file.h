// Memory that processes share by the name of a file or of a shared memory object.
#pragma once

#include <cstddef>
#include <string>

namespace gvb {

// Open and locked (flock) while the object lives, so that other processes wait until one has written the contents.
// Mappings outlive it.
class SharedFile {
 public:
  // Creates the file if there is none; see opened().
  static SharedFile at_path(const std::string& path);
  // A shared memory object. EPERM if another user owns it or may write to it: anyone can make one of any name.
  static SharedFile object(const std::string& name);
  // A descriptor of such an object if there is one, not locked; else -1, with errno.
  static int open_object(const std::string& name);
  // Whether the file still has a name. One that another process unlinked has none, and its name may be a new file's.
  static bool has_name(int descriptor);

  ~SharedFile();
  SharedFile(SharedFile&& other) noexcept;
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  SharedFile& operator=(SharedFile&&) = delete;

  // If false, `errno` holds the reason.
  bool opened() const { return descriptor_ >= 0; }
  // Size when it was opened; 0 if it was just created.
  size_t size() const { return size_; }
  // Maps the whole file, after resizing it to `bytes`. Returns nullptr, with errno, on failure.
  void* map(size_t bytes) const;
  // Sets all bytes to zero; pages that were never touched cost nothing.
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
