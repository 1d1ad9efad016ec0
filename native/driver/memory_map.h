// The process's memory as the kernel describes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gvb {

// A readable mapping of a file.
struct Mapping {
  uintptr_t begin, end, offset;
  bool executable;
  std::string file;  // device and inode
  std::string path;
};

// /proc/self/maps, without memory that no file backs.
std::vector<Mapping> file_mappings();

// Copies the readable bytes at `address` and returns how many there were.
size_t read_own_memory(uintptr_t address, void* out, size_t size);

// The kernel's auxiliary vector of this process (AT_PHDR, AT_BASE, …); 0 if it has no such entry.
uintptr_t auxiliary_value(unsigned long type);

// The kernel's code for reading clocks (vDSO); empty if there is none.
struct KernelCode {
  const unsigned char* bytes = nullptr;
  size_t size = 0;
};
KernelCode kernel_code();

}  // namespace gvb
