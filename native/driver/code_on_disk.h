// Checks whether a library's code in memory equals its file. An interposer that overwrites the beginning of a function
// changes no pointer, so only this finds it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/unhooked_file.h"
#include "driver/elf_image.h"

namespace gvb {

struct PatchedCode {
  std::string bytes;  // bytes in memory from the function's beginning, hexadecimal
  std::string owner;  // the object that the jump at the beginning leads to; empty if none is found
};

class CodeOnDisk {
 public:
  // How many bytes of a function are compared.
  static constexpr size_t kCompared = 32;

  explicit CodeOnDisk(const ElfImage& image);

  // Why nothing can be compared; empty if it can.
  const std::string& unreadable() const { return unreadable_; }
  // How the code at `address` differs from the file; nothing if it does not, or lies outside the image's code.
  std::optional<PatchedCode> patch_at(const void* address, size_t bytes = kCompared) const;
  // The same for a function, but not beyond its end: the next function may be the patched one.
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
  const UnhookedFile file_;
  std::string unreadable_;
  // Where the dynamic loader itself writes into code; in practice nowhere.
  std::vector<ElfW(Addr)> relocations_;
};

}  // namespace gvb
