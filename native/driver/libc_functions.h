// Whether functions that times and proofs depend on are libc's own.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "driver/code_on_disk.h"
#include "driver/elf_image.h"
#include "driver/memory_map.h"

namespace gvb {

struct LibcFunction {
  const char* name;
  std::string owner;  // of the address that this process calls
  bool own;           // libc or the vDSO owns it, and libc's code equals its file
};

using NamedAddress = std::pair<const char*, const void*>;

// The libc of this process, as it is loaded now.
class CLibrary {
 public:
  CLibrary();

  // Whether an object is libc, the loader that the kernel mapped, or a library that was once a part of libc and lies
  // beside it: one of that name elsewhere is another one.
  bool contains(const ElfImage& image) const;
  // The addresses as the caller resolves them; Node's executable looks up the same names in the same scope.
  std::vector<LibcFunction> judged(const std::vector<NamedAddress>& addresses) const;
  // Those that read files, symbols and maps, or write results, and that are not libc's own. The addon's own proofs use
  // none of them; Node does.
  std::vector<LibcFunction> replaced() const;

 private:
  using Files = std::map<std::string, CodeOnDisk>;  // by path

  std::string folder_of(const ElfImage& image) const;
  LibcFunction judge(const NamedAddress& named, Files& files) const;

  const std::vector<Mapping> mappings_;
  const std::vector<ElfImage> images_;
  std::string path_, folder_;  // of libc
};

}  // namespace gvb
