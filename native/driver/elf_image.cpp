#include "driver/elf_image.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <utility>

#include "driver/memory_map.h"

namespace gvb {

ElfImage::ElfImage(const link_map& map, std::vector<ElfW(Phdr)> segments)
    : path_(map.l_name ? map.l_name : ""), segments_(std::move(segments)), base_(map.l_addr), dynamic_(map.l_ld) {
  // glibc relocates these entries in place, other loaders leave them relative.
  const auto address = [&](ElfW(Addr) value) {
    return reinterpret_cast<const void*>(value < base_ ? base_ + value : value);
  };
  for (const ElfW(Dyn)* d = map.l_ld; d && d->d_tag != DT_NULL; ++d) {
    if (d->d_tag == DT_SYMTAB) symbols_ = static_cast<const ElfW(Sym)*>(address(d->d_un.d_ptr));
    if (d->d_tag == DT_STRTAB) strings_ = static_cast<const char*>(address(d->d_un.d_ptr));
    if (d->d_tag == DT_GNU_HASH) gnu_hash_ = static_cast<const uint32_t*>(address(d->d_un.d_ptr));
    if (d->d_tag == DT_HASH) sysv_hash_ = static_cast<const uint32_t*>(address(d->d_un.d_ptr));
  }
}

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

unsigned ElfImage::symbol_count() const {
  if (sysv_hash_) return sysv_hash_[1];
  if (!gnu_hash_) return 0;
  const uint32_t buckets = gnu_hash_[0], offset = gnu_hash_[1], bloom = gnu_hash_[2];
  const auto* bucket = gnu_hash_ + 4 + bloom * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  const auto* chain = bucket + buckets;
  uint32_t last = 0;
  for (uint32_t i = 0; i < buckets; ++i) last = bucket[i] > last ? bucket[i] : last;
  if (last < offset) return offset;
  while (!(chain[last - offset] & 1)) ++last;
  return last + 1;
}

template <class Visit>
void ElfImage::each_defined(Visit visit) const {
  if (!symbols_ || !strings_) return;
  const unsigned count = symbol_count();
  for (unsigned i = 1; i < count; ++i) {
    const ElfW(Sym)& symbol = symbols_[i];
    const unsigned char bind = symbol.st_info >> 4, type = symbol.st_info & 0xf;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0 || (bind != STB_GLOBAL && bind != STB_WEAK)) continue;
    if (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE) continue;
    if (visit(strings_ + symbol.st_name, symbol)) return;
  }
}

void* ElfImage::find(const char* name) const {
  void* found = nullptr;
  each_defined([&](const char* candidate, const ElfW(Sym) & symbol) {
    if (std::strcmp(candidate, name) != 0) return false;
    found = reinterpret_cast<void*>(base_ + symbol.st_value);
    return true;
  });
  return found;
}

std::string ElfImage::soname() const {
  for (const ElfW(Dyn)* d = dynamic_; strings_ && d && d->d_tag != DT_NULL; ++d)
    if (d->d_tag == DT_SONAME) return strings_ + d->d_un.d_val;
  return "";
}

std::vector<std::string> ElfImage::needed() const {
  std::vector<std::string> names;
  for (const ElfW(Dyn)* d = dynamic_; strings_ && d && d->d_tag != DT_NULL; ++d)
    if (d->d_tag == DT_NEEDED) names.emplace_back(strings_ + d->d_un.d_val);
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
  each_defined([&](const char*, const ElfW(Sym) & symbol) {
    if (reinterpret_cast<const void*>(base_ + symbol.st_value) != address) return false;
    size = symbol.st_size;
    return size > 0;
  });
  return size;
}

std::string ElfImage::name_at(const void* address, const char* base) const {
  const size_t length = std::strlen(base);
  std::string name;
  each_defined([&](const char* candidate, const ElfW(Sym) & symbol) {
    if (reinterpret_cast<const void*>(base_ + symbol.st_value) != address ||
        std::strncmp(candidate, base, length) != 0 || (candidate[length] != '\0' && candidate[length] != '_'))
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
  each_defined([&](const char* candidate, const ElfW(Sym)&) {
    count +=
        std::strncmp(candidate, prefix, length) == 0 && std::isupper(static_cast<unsigned char>(candidate[length]));
    return false;
  });
  return count;
}

}  // namespace gvb
