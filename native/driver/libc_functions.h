// Whether functions that times and proofs depend on are libc's own.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "driver/elf_image.h"

namespace gvb {

struct LibcFunction {
  const char* name;
  std::string owner;  // of the address that this process calls
  bool own;           // libc or the vDSO owns it, and libc's code equals its file
};

// Whether an object is the libc or loader of this process, or a libdl beside that libc.
bool is_c_library(const ElfImage& image);

using NamedAddress = std::pair<const char*, const void*>;

// The addresses as the caller resolves them; Node's executable looks up the same names in the same scope.
std::vector<LibcFunction> libc_functions(const std::vector<NamedAddress>& addresses);

// Those that read files, symbols and maps, or write results, and that are not libc's own. The addon's own proofs use
// none of them; Node does.
std::vector<LibcFunction> replaced_libc_functions();

}  // namespace gvb
