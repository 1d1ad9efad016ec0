#include "driver/symbol_table.h"

#include <cstring>

namespace gvb {

namespace {

// The sections of DT_GNU_HASH.
struct GnuHash {
  explicit GnuHash(const uint32_t* words)
      : buckets(words[0]), first(words[1]), bucket(words + 4 + words[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t))) {}
  // The hash of symbol `index`; its lowest bit tells whether it is the last of its bucket.
  uint32_t of(uint32_t index) const { return bucket[buckets + index - first]; }

  const uint32_t buckets, first;
  const uint32_t* const bucket;
};

}  // namespace

SymbolTable::SymbolTable(const link_map& map) : base_(map.l_addr), dynamic_(map.l_ld) {
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

unsigned SymbolTable::size() const {
  if (sysv_hash_) return sysv_hash_[1];
  if (!gnu_hash_) return 0;
  const GnuHash hash(gnu_hash_);
  uint32_t last = 0;
  for (uint32_t i = 0; i < hash.buckets; ++i) last = hash.bucket[i] > last ? hash.bucket[i] : last;
  if (last < hash.first) return hash.first;
  while (!(hash.of(last) & 1)) ++last;
  return last + 1;
}

const char* SymbolTable::name_if_defined(unsigned index) const {
  const ElfW(Sym)& symbol = symbols_[index];
  const unsigned char bind = symbol.st_info >> 4, type = symbol.st_info & 0xf;
  if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0 || (bind != STB_GLOBAL && bind != STB_WEAK)) return nullptr;
  return type == STT_FUNC || type == STT_OBJECT || type == STT_NOTYPE ? strings_ + symbol.st_name : nullptr;
}

void* SymbolTable::address_if(unsigned index, const char* name) const {
  const char* candidate = name_if_defined(index);
  return candidate && std::strcmp(candidate, name) == 0 ? address_of(symbols_[index]) : nullptr;
}

void* SymbolTable::find_by_gnu_hash(const char* name) const {
  uint32_t wanted = 5381;
  for (const auto* letter = reinterpret_cast<const unsigned char*>(name); *letter; ++letter)
    wanted = wanted * 33 + *letter;
  const GnuHash hash(gnu_hash_);
  const uint32_t begin = hash.buckets == 0 ? 0 : hash.bucket[wanted % hash.buckets];
  if (begin < hash.first) return nullptr;
  for (uint32_t i = begin;; ++i) {
    if ((hash.of(i) | 1) == (wanted | 1))
      if (void* found = address_if(i, name)) return found;
    if (hash.of(i) & 1) return nullptr;
  }
}

void* SymbolTable::find_by_sysv_hash(const char* name) const {
  uint32_t wanted = 0;
  for (const auto* letter = reinterpret_cast<const unsigned char*>(name); *letter; ++letter) {
    wanted = (wanted << 4) + *letter;
    wanted = (wanted ^ (wanted >> 24 & 0xf0)) & 0x0fffffff;
  }
  const uint32_t buckets = sysv_hash_[0];
  const uint32_t* chain = sysv_hash_ + 2 + buckets;
  for (uint32_t i = buckets == 0 ? 0 : sysv_hash_[2 + wanted % buckets]; i != STN_UNDEF; i = chain[i])
    if (void* found = address_if(i, name)) return found;
  return nullptr;
}

void* SymbolTable::find(const char* name) const {
  if (!symbols_ || !strings_) return nullptr;
  if (gnu_hash_) return find_by_gnu_hash(name);
  return sysv_hash_ ? find_by_sysv_hash(name) : nullptr;
}

const char* SymbolTable::soname() const {
  for (const ElfW(Dyn)* d = dynamic_; strings_ && d && d->d_tag != DT_NULL; ++d)
    if (d->d_tag == DT_SONAME) return strings_ + d->d_un.d_val;
  return "";
}

}  // namespace gvb
