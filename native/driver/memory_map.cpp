#include "driver/memory_map.h"

#include <link.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/unhooked_file.h"

namespace gvb {

namespace {

// 7f31c0000000-7f31c0021000 r-xp 00001000 103:02 1234   /usr/lib/libcuda.so.1
std::optional<Mapping> parse(const std::string& line) {
  unsigned long begin = 0, end = 0, offset = 0, inode = 0;
  char permissions[8], device[24];
  int path = 0;
  if (std::sscanf(line.c_str(), "%lx-%lx %7s %lx %23s %lu %n", &begin, &end, permissions, &offset, device, &inode,
                  &path) < 6)
    return std::nullopt;
  if (line[static_cast<size_t>(path)] != '/' || permissions[0] != 'r') return std::nullopt;
  return Mapping{begin,
                 end,
                 offset,
                 permissions[2] == 'x',
                 std::string(device) + ' ' + std::to_string(inode),
                 line.substr(static_cast<size_t>(path))};
}

}  // namespace

std::vector<Mapping> file_mappings() {
  std::vector<Mapping> mappings;
  const std::string text = UnhookedFile("/proc/self/maps").rest();
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    if (auto mapping = parse(text.substr(begin, end - begin))) mappings.push_back(std::move(*mapping));
    if (end == std::string::npos) break;
    begin = end + 1;
  }
  return mappings;
}

// Reads through the kernel, because an address found in foreign code need not be mapped.
size_t read_own_memory(uintptr_t address, void* out, size_t size) {
  return UnhookedFile("/proc/self/mem").read_at(address, out, size);
}

uintptr_t auxiliary_value(unsigned long type) {
  static const std::string vector = UnhookedFile("/proc/self/auxv").rest();
  ElfW(auxv_t) entry;
  for (size_t at = 0; at + sizeof entry <= vector.size(); at += sizeof entry) {
    std::memcpy(&entry, vector.data() + at, sizeof entry);
    if (entry.a_type == type) return entry.a_un.a_val;
  }
  return 0;
}

KernelCode kernel_code() {
  const uintptr_t begin = auxiliary_value(AT_SYSINFO_EHDR);
  if (begin == 0) return {};
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(begin);
  const auto* segment = reinterpret_cast<const ElfW(Phdr)*>(begin + header->e_phoff);
  const auto* load =
      std::find_if(segment, segment + header->e_phnum, [](const ElfW(Phdr) & each) { return each.p_type == PT_LOAD; });
  if (load == segment + header->e_phnum) return {};
  return {reinterpret_cast<const unsigned char*>(begin + load->p_offset), load->p_filesz};
}

}  // namespace gvb
