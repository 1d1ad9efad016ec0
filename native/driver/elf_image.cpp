#include "driver/elf_image.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <utility>

#include "driver/memory_map.h"

namespace gvb {

ElfImage::ElfImage(const link_map& map, std::vector<ElfW(Phdr)> segments)
    : path_(map.l_name ? map.l_name : ""),
      segments_(std::move(segments)),
      base_(map.l_addr),
      dynamic_(map.l_ld),
      symbols_(map) {}

ElfImage ElfImage::of_handle(void* handle) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map) return ElfImage(link_map{});
  return ElfImage(*map);
}

namespace {

// The program's headers, where the kernel mapped them.
std::vector<ElfW(Phdr)> headers_of_program() {
  const auto* headers = reinterpret_cast<const ElfW(Phdr)*>(auxiliary_value(AT_PHDR));
  return headers ? std::vector<ElfW(Phdr)>(headers, headers + auxiliary_value(AT_PHNUM)) : std::vector<ElfW(Phdr)>{};
}

// The loader's list as the program's own dynamic section names it, which needs no function of libc.
const link_map* loader_list() {
  const std::vector<ElfW(Phdr)> headers = headers_of_program();
  ElfW(Addr) base = 0;
  for (const ElfW(Phdr) & header : headers)
    if (header.p_type == PT_PHDR) base = auxiliary_value(AT_PHDR) - header.p_vaddr;
  for (const ElfW(Phdr) & header : headers)
    if (header.p_type == PT_DYNAMIC)
      for (auto* d = reinterpret_cast<const ElfW(Dyn)*>(base + header.p_vaddr); d->d_tag != DT_NULL; ++d)
        if (d->d_tag == DT_DEBUG && d->d_un.d_ptr != 0) return reinterpret_cast<const r_debug*>(d->d_un.d_ptr)->r_map;
  // A program that was started through the loader's own command line has no such headers.
  link_map* map = nullptr;
  void* self = dlopen(nullptr, RTLD_NOW | RTLD_NOLOAD);
  if (!self || dlinfo(self, RTLD_DI_LINKMAP, &map) != 0) map = nullptr;
  if (self) dlclose(self);
  return map;
}

}  // namespace

std::vector<ElfImage> ElfImage::all() {
  std::vector<ElfImage> images;
  // Skips the kernel's vDSO, whose entries stay unrelocated in read-only memory.
  for (const link_map* map = loader_list(); map; map = map->l_next)
    if (!map->l_name || !std::strstr(map->l_name, "vdso")) images.emplace_back(*map);
  return images;
}

std::vector<std::string> ElfImage::needed() const {
  std::vector<std::string> names;
  const char* strings = symbols_.strings();
  for (const ElfW(Dyn)* d = dynamic_; strings && d && d->d_tag != DT_NULL; ++d)
    if (d->d_tag == DT_NEEDED) names.emplace_back(strings + d->d_un.d_val);
  return names;
}

std::vector<ElfW(Phdr)> ElfImage::segments() const {
  if (!segments_.empty()) return segments_;
  // The loader's list has no name for the program itself, which may lie at a fixed address.
  if (path_.empty()) return headers_of_program();
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(base_);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return {};
  const auto* first = reinterpret_cast<const ElfW(Phdr)*>(base_ + header->e_phoff);
  return {first, first + header->e_phnum};
}

bool ElfImage::contains(const void* address) const {
  const auto place = reinterpret_cast<ElfW(Addr)>(address) - base_;
  const std::vector<ElfW(Phdr)> all = segments();
  return std::any_of(all.begin(), all.end(), [&](const ElfW(Phdr) & segment) {
    return segment.p_type == PT_LOAD && place >= segment.p_vaddr && place < segment.p_vaddr + segment.p_memsz;
  });
}

size_t ElfImage::size_at(const void* address) const {
  size_t size = 0;
  symbols_.each_defined([&](const char*, const ElfW(Sym) & symbol) {
    if (symbols_.address_of(symbol) != address) return false;
    size = symbol.st_size;
    return size > 0;
  });
  return size;
}

std::string ElfImage::name_at(const void* address, const char* base) const {
  const size_t length = std::strlen(base);
  std::string name;
  symbols_.each_defined([&](const char* candidate, const ElfW(Sym) & symbol) {
    if (symbols_.address_of(symbol) != address || std::strncmp(candidate, base, length) != 0 ||
        (candidate[length] != '\0' && candidate[length] != '_'))
      return false;
    name = candidate;
    return true;
  });
  return name;
}

const ElfImage* image_of(const std::vector<ElfImage>& images, const std::string& path) {
  const auto found =
      std::find_if(images.begin(), images.end(), [&](const ElfImage& image) { return image.path() == path; });
  return found == images.end() ? nullptr : &*found;
}

unsigned ElfImage::count_exports(const char* prefix) const {
  const size_t length = std::strlen(prefix);
  unsigned count = 0;
  symbols_.each_defined([&](const char* candidate, const ElfW(Sym)&) {
    count +=
        std::strncmp(candidate, prefix, length) == 0 && std::isupper(static_cast<unsigned char>(candidate[length]));
    return false;
  });
  return count;
}

}  // namespace gvb
