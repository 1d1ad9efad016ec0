#include "driver/code_on_disk.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "driver/code_owner.h"

namespace gvb {

namespace {

using Code = std::array<unsigned char, CodeOnDisk::kCompared>;

std::string hexadecimal(const unsigned char* bytes, size_t count) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

}  // namespace

CodeOnDisk::CodeOnDisk(const ElfImage& image)
    : image_(image),
      path_(image.path()),
      base_(image.base()),
      dynamic_(image.dynamic()),
      segments_(image.segments()),
      file_(path_.c_str()) {
  if (!file_.is_open())
    unreadable_ = path_ + " cannot be opened";
  else if (!is_mapped_file())
    unreadable_ = path_ + " is not the file that was mapped";
  else
    find_relocations();
}

bool CodeOnDisk::read(size_t offset, void* out, size_t bytes) const {
  return file_.read_at(offset, out, bytes) == bytes;
}

// A file that was replaced after loading (a driver update) has other program headers or another build ID.
bool CodeOnDisk::is_mapped_file() const {
  ElfW(Ehdr) header;
  if (segments_.empty() || !read(0, &header, sizeof header) || header.e_phnum != segments_.size()) return false;
  std::vector<ElfW(Phdr)> on_disk(segments_.size());
  const size_t size = on_disk.size() * sizeof(ElfW(Phdr));
  if (!read(header.e_phoff, on_disk.data(), size) || std::memcmp(on_disk.data(), segments_.data(), size) != 0)
    return false;
  return std::all_of(segments_.begin(), segments_.end(), [&](const ElfW(Phdr) & segment) {
    if (segment.p_type != PT_NOTE) return true;
    std::vector<char> note(segment.p_filesz);
    return read(segment.p_offset, note.data(), note.size()) &&
           std::memcmp(note.data(), reinterpret_cast<const void*>(base_ + segment.p_vaddr), note.size()) == 0;
  });
}

void CodeOnDisk::add_relocation(ElfW(Addr) place, const std::vector<ElfW(Phdr)>& code) {
  for (const ElfW(Phdr) & segment : code)
    if (place >= segment.p_vaddr && place < segment.p_vaddr + segment.p_memsz) relocations_.push_back(place);
}

void CodeOnDisk::find_relocations() {
  std::vector<ElfW(Phdr)> code;
  std::copy_if(segments_.begin(), segments_.end(), std::back_inserter(code),
               [](const ElfW(Phdr) & segment) { return segment.p_type == PT_LOAD && (segment.p_flags & PF_X); });
  const auto find = [&](ElfW(Sxword) tag) {
    const ElfW(Dyn)* entry = dynamic_;
    while (entry && entry->d_tag != DT_NULL && entry->d_tag != tag) ++entry;
    return entry && entry->d_tag == tag ? entry : nullptr;
  };
  const auto *flags = find(DT_FLAGS), *table = find(DT_RELA), *bytes = find(DT_RELASZ);
  // The loader writes into code only if the file announces it.
  const bool writes = find(DT_TEXTREL) || (flags && (flags->d_un.d_val & DF_TEXTREL));
  if (!writes || !table || !bytes) return;
  const ElfW(Addr) address = table->d_un.d_ptr < base_ ? table->d_un.d_ptr + base_ : table->d_un.d_ptr;
  const auto* relocation = reinterpret_cast<const ElfW(Rela)*>(address);
  for (size_t i = 0; i < bytes->d_un.d_val / sizeof(ElfW(Rela)); ++i) add_relocation(relocation[i].r_offset, code);
}

// No relocation on x64 or arm64 writes more than eight bytes.
bool CodeOnDisk::relocated(ElfW(Addr) place) const {
  return std::any_of(relocations_.begin(), relocations_.end(),
                     [&](ElfW(Addr) first) { return place >= first && place < first + 8; });
}

std::optional<PatchedCode> CodeOnDisk::patch_at(const void* address, size_t bytes) const {
  const ElfW(Addr) place = reinterpret_cast<ElfW(Addr)>(address) - base_;
  const auto segment = std::find_if(segments_.begin(), segments_.end(), [&](const ElfW(Phdr) & candidate) {
    return candidate.p_type == PT_LOAD && (candidate.p_flags & PF_X) && place >= candidate.p_vaddr &&
           place < candidate.p_vaddr + candidate.p_filesz;
  });
  if (!unreadable_.empty() || segment == segments_.end()) return std::nullopt;
  const size_t count = std::min({bytes, kCompared, static_cast<size_t>(segment->p_vaddr + segment->p_filesz - place)});
  Code memory{}, disk{};
  if (!read(segment->p_offset + (place - segment->p_vaddr), disk.data(), count)) return std::nullopt;
  std::memcpy(memory.data(), address, count);
  size_t first = 0;
  while (first < count && (memory[first] == disk[first] || relocated(place + first))) ++first;
  if (first == count) return std::nullopt;
  const auto start = reinterpret_cast<uintptr_t>(address);
  std::string owner = owner_behind_jumps(start);
  if (owner.empty() || owner == path_) owner = owner_behind_jumps(start + first);
  return PatchedCode{hexadecimal(memory.data(), count), owner};
}

std::optional<PatchedCode> CodeOnDisk::patch_of(const void* function) const {
  const size_t size = image_.size_at(function);
  return patch_at(function, size > 0 ? std::min(size, kCompared) : kCompared);
}

}  // namespace gvb
