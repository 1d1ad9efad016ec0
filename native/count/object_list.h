// The loader's list of objects, read without the loader's lock.
#pragma once

#include <link.h>

#include <cstring>
#include <optional>

namespace gvb::count {

// dl_iterate_phdr takes a lock that the loader holds only while it changes its list, never while constructors run.
// `visit` returns whether it has seen enough, and must not allocate.
template <class Visit>
void each_object(Visit visit) {
  const auto call = [](dl_phdr_info* info, size_t, void* data) { return (*static_cast<Visit*>(data))(*info) ? 1 : 0; };
  dl_iterate_phdr(call, &visit);
}

inline bool contains(const dl_phdr_info& info, const void* address) {
  const auto at = reinterpret_cast<ElfW(Addr)>(address);
  for (size_t i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    const ElfW(Addr) begin = info.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && at >= begin && at < begin + segment.p_memsz) return true;
  }
  return false;
}

// With an empty path, so that an image of it needs no memory.
inline link_map map_of(const dl_phdr_info& info) {
  link_map map{};
  map.l_addr = info.dlpi_addr;
  for (size_t i = 0; i < info.dlpi_phnum; ++i)
    if (info.dlpi_phdr[i].p_type == PT_DYNAMIC)
      map.l_ld = reinterpret_cast<ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
  return map;
}

// The kernel's vDSO: its entries stay unrelocated in read-only memory.
inline bool is_readable(const dl_phdr_info& info) { return !info.dlpi_name || !std::strstr(info.dlpi_name, "vdso"); }

struct Listed {
  link_map map{};
  const char* name = "";
};

inline std::optional<Listed> find_object(const void* address) {
  std::optional<Listed> found;
  each_object([&](const dl_phdr_info& info) {
    if (!is_readable(info) || !contains(info, address)) return false;
    found = Listed{map_of(info), info.dlpi_name};
    return true;
  });
  return found;
}

}  // namespace gvb::count
