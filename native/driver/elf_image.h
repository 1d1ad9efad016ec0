// A loaded object, read from memory: finds a driver's own address even if dlsym is interposed.
#pragma once

#include <elf.h>
#include <link.h>

#include <string>
#include <vector>

#include "driver/symbol_table.h"

namespace gvb {

class ElfImage {
 public:
  // Pass `segments` for an object that is missing from the loader's list of this namespace.
  explicit ElfImage(const link_map& map, std::vector<ElfW(Phdr)> segments = {});

  // The object of a handle from dlopen.
  static ElfImage of_handle(void* handle);
  // Every object of this link namespace, in load order.
  static std::vector<ElfImage> all();

  // Address of a defined global function, or nullptr. If the name exists in several versions, returns any of them.
  void* find(const char* name) const { return symbols_.find(name); }
  // How many defined global symbols begin with `prefix` followed by an upper-case letter.
  unsigned count_exports(const char* prefix) const;
  const std::string& path() const { return path_; }
  // Whether the loader's list of this link namespace contains it.
  bool is_listed() const { return segments_.empty(); }
  // The soname; empty if there is none.
  std::string soname() const { return symbols_.soname(); }
  // The sonames of the libraries that it was linked with.
  std::vector<std::string> needed() const;
  ElfW(Addr) base() const { return base_; }
  const ElfW(Dyn) * dynamic() const { return dynamic_; }
  // Its program headers as mapped in memory.
  std::vector<ElfW(Phdr)> segments() const;
  bool contains(const void* address) const;
  // Size of the defined function that begins at `address`; 0 if none does or its size is not recorded.
  size_t size_at(const void* address) const;
  // The name of the defined function that begins at `address` if it is `base` or begins with `base` and '_'; else "".
  std::string name_at(const void* address, const char* base) const;

 private:
  std::string path_;
  std::vector<ElfW(Phdr)> segments_;
  ElfW(Addr) base_ = 0;
  const ElfW(Dyn) * dynamic_ = nullptr;
  SymbolTable symbols_;
};

// The first image with that path, or nullptr.
const ElfImage* image_of(const std::vector<ElfImage>& images, const std::string& path);

}  // namespace gvb
