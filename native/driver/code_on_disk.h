// Whether a library's code in memory is still what its file holds. Interception that overwrites the beginning of a
// function shows in no pointer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/elf_image.h"

namespace gvb {

struct PatchedCode {
  std::string bytes;  // of memory, hexadecimal, from the function's beginning
  std::string owner;  // the object the jump at its beginning leads to; empty where none is found
};

class CodeOnDisk {
 public:
  // What of a function is compared.
  static constexpr size_t kCompared = 32;

  explicit CodeOnDisk(const ElfImage& image);
  ~CodeOnDisk();
  CodeOnDisk(const CodeOnDisk&) = delete;
  CodeOnDisk& operator=(const CodeOnDisk&) = delete;

  // Why nothing can be compared; empty where it can.
  const std::string& unreadable() const { return unreadable_; }
  // How the code at `address` differs from the file; nothing where it does not, or lies outside of the image's code.
  std::optional<PatchedCode> patch_at(const void* address, size_t bytes = kCompared) const;
  // The same of a function, and not beyond its end, where the next one may be the patched one.
  std::optional<PatchedCode> patch_of(const void* function) const;

 private:
  bool read(size_t offset, void* out, size_t bytes) const;
  bool is_mapped_file() const;
  void find_relocations();
  void add_relocation(ElfW(Addr) place, const std::vector<ElfW(Phdr)>& code);
  bool relocated(ElfW(Addr) place) const;

  const ElfImage image_;
  const std::string path_;
  const ElfW(Addr) base_;
  const ElfW(Dyn) * dynamic_;
  const std::vector<ElfW(Phdr)> segments_;
  const int file_;
  std::string unreadable_;
  // Where the dynamic loader itself writes into code; in practice nowhere.
  std::vector<ElfW(Addr)> relocations_;
};

}  // namespace gvb
