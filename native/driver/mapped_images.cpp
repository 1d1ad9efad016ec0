#include "driver/mapped_images.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <string>

#include "driver/memory_map.h"

namespace gvb {

namespace {

std::set<std::string> files_of(const std::vector<ElfImage>& images, const std::vector<Mapping>& mappings) {
  std::set<std::string> files;
  for (const Mapping& mapping : mappings)
    for (const ElfImage& image : images) {
      const auto dynamic = reinterpret_cast<uintptr_t>(image.dynamic());
      if (dynamic >= mapping.begin && dynamic < mapping.end) files.insert(mapping.file);
    }
  return files;
}

std::vector<ElfW(Phdr)> program_headers(uintptr_t begin) {
  constexpr unsigned kMost = 64;  // a library has about ten
  ElfW(Ehdr) header;
  if (read_own_memory(begin, &header, sizeof header) != sizeof header) return {};
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type != ET_DYN) return {};
  if (header.e_phentsize != sizeof(ElfW(Phdr)) || header.e_phnum > kMost) return {};
  std::vector<ElfW(Phdr)> segments(header.e_phnum);
  const size_t size = segments.size() * sizeof(ElfW(Phdr));
  if (read_own_memory(begin + header.e_phoff, segments.data(), size) != size) return {};
  return segments;
}

// Whether each segment lies where a loader puts it and only code is executable, so that the tables can be read in
// memory. A program that only reads a library's file through mmap has it in one piece.
bool is_loaded(const std::vector<ElfW(Phdr)>& segments, uintptr_t base, const Mapping& first,
               const std::vector<Mapping>& mappings) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  return std::all_of(segments.begin(), segments.end(), [&](const ElfW(Phdr) & segment) {
    if (segment.p_type != PT_LOAD || segment.p_filesz == 0) return true;
    const uintptr_t start = base + segment.p_vaddr / page * page, offset = segment.p_offset / page * page;
    return std::any_of(mappings.begin(), mappings.end(), [&](const Mapping& mapping) {
      return mapping.file == first.file && start >= mapping.begin && start < mapping.end &&
             mapping.offset + (start - mapping.begin) == offset &&
             mapping.executable == ((segment.p_flags & PF_X) != 0);
    });
  });
}

std::optional<ElfImage> loaded_at(const Mapping& first, const std::vector<Mapping>& mappings) {
  const std::vector<ElfW(Phdr)> segments = program_headers(first.begin);
  const auto of_type = [&](ElfW(Word) type) {
    return std::find_if(segments.begin(), segments.end(),
                        [type](const ElfW(Phdr) & segment) { return segment.p_type == type; });
  };
  const auto load = of_type(PT_LOAD), dynamic = of_type(PT_DYNAMIC);
  if (load == segments.end() || dynamic == segments.end() || load->p_offset != 0) return std::nullopt;
  const uintptr_t base = first.begin - load->p_vaddr;
  if (!is_loaded(segments, base, first, mappings)) return std::nullopt;
  link_map map{};
  map.l_addr = base;
  map.l_name = const_cast<char*>(first.path.c_str());
  map.l_ld = reinterpret_cast<ElfW(Dyn)*>(base + dynamic->p_vaddr);
  return ElfImage(map, segments);
}

}  // namespace

std::vector<ElfImage> mapped_images() {
  std::vector<ElfImage> images = ElfImage::all();
  const std::vector<Mapping> mappings = file_mappings();
  const std::set<std::string> listed = files_of(images, mappings);
  for (const Mapping& mapping : mappings) {
    if (mapping.offset != 0 || listed.count(mapping.file) > 0) continue;
    if (auto image = loaded_at(mapping, mappings)) images.push_back(std::move(*image));
  }
  return images;
}

}  // namespace gvb
