// Which object an address belongs to, by the program headers of what is loaded: dladdr can be replaced.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/elf_image.h"

namespace gvb {

// What owns code that no object contains, e.g. a trampoline in memory that a layer allocated.
inline constexpr const char* kNoFile = "memory without a file";

// The executable, which has no name in the loader's list.
inline constexpr const char* kProgram = "the program itself";

// Path of the object that contains an address, kProgram or kNoFile; empty for nullptr.
std::string owner_of(const void* address);
std::string owner_of(const void* address, const std::vector<ElfImage>& images);

// The object that the chain of jumps from `address` leads to; empty if it leads to none.
std::string owner_behind_jumps(uintptr_t address);

}  // namespace gvb
