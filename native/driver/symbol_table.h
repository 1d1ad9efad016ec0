// The dynamic symbol table of a loaded object, as it lies in memory. Calls no function of libc that could be replaced,
// and allocates nothing.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstdint>

namespace gvb {

class SymbolTable {
 public:
  explicit SymbolTable(const link_map& map);

  // Address of a defined global function, or nullptr. If the name exists in several versions, returns any of them.
  void* find(const char* name) const;
  // The soname; empty if there is none.
  const char* soname() const;
  const char* strings() const { return strings_; }
  void* address_of(const ElfW(Sym) & symbol) const { return reinterpret_cast<void*>(base_ + symbol.st_value); }

  // Every defined global symbol with its name, until `visit` returns true.
  template <class Visit>
  void each_defined(Visit visit) const {
    if (!symbols_ || !strings_) return;
    const unsigned count = size();
    for (unsigned i = 1; i < count; ++i)
      if (const char* name = name_if_defined(i); name && visit(name, symbols_[i])) return;
  }

 private:
  unsigned size() const;
  const char* name_if_defined(unsigned index) const;
  void* address_if(unsigned index, const char* name) const;
  void* find_by_gnu_hash(const char* name) const;
  void* find_by_sysv_hash(const char* name) const;

  ElfW(Addr) base_ = 0;
  const ElfW(Dyn) * dynamic_ = nullptr;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* strings_ = nullptr;
  const uint32_t* gnu_hash_ = nullptr;
  const uint32_t* sysv_hash_ = nullptr;
};

}  // namespace gvb
