#include "driver/libc_functions.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "driver/code_on_disk.h"
#include "driver/code_owner.h"
#include "driver/memory_map.h"

namespace gvb {

namespace {

constexpr const char* kVdso = "linux-vdso.so.1";

const Mapping* mapping_of(const std::vector<Mapping>& mappings, uintptr_t address) {
  const auto found = std::find_if(mappings.begin(), mappings.end(), [&](const Mapping& mapping) {
    return address >= mapping.begin && address < mapping.end;
  });
  return found == mappings.end() ? nullptr : &*found;
}

bool in_vdso(uintptr_t address) {
  const uintptr_t begin = auxiliary_value(AT_SYSINFO_EHDR);
  if (begin == 0 || address < begin) return false;
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(begin);
  const auto* segment = reinterpret_cast<const ElfW(Phdr)*>(begin + header->e_phoff);
  return std::any_of(segment, segment + header->e_phnum, [&](const ElfW(Phdr) & each) {
    return each.p_type == PT_LOAD && address - begin < each.p_offset + each.p_memsz;
  });
}

class CLibrary {
 public:
  CLibrary() {
    const auto libc = std::find_if(images_.begin(), images_.end(), [](const ElfImage& image) {
      return image.soname() == "libc.so.6" && image.find("__libc_start_main");
    });
    if (libc == images_.end()) return;
    path_ = libc->path();
    folder_ = folder_of(*libc);
  }

  LibcFunction judge(const NamedAddress& named) const {
    const auto address = reinterpret_cast<uintptr_t>(named.second);
    if (in_vdso(address)) return {named.first, kVdso, true};
    LibcFunction function{named.first, owner_of(named.second, images_), false};
    // An executable at a fixed address has an entry of its own that leads to the function.
    if (function.owner == kProgram) {
      function.own = program_imports(named.first);
      return function;
    }
    const ElfImage* image = image_of(images_, function.owner);
    if (!image || !is_part(*image)) return function;
    const auto patch = CodeOnDisk(*image).patch_at(named.second);
    function.own = !patch;
    if (patch && !patch->owner.empty()) function.owner = patch->owner;
    return function;
  }

  // Whether an object is libc, the loader that the kernel mapped, or a library that was once a part of libc and lies
  // beside it: one of that name elsewhere is another one.
  bool is_part(const ElfImage& image) const {
    if (image.path() == path_ || image.base() == auxiliary_value(AT_BASE)) return true;
    const std::string name = image.soname();
    return (name == "libdl.so.2" || name == "libpthread.so.0") && !folder_.empty() && folder_of(image) == folder_;
  }

 private:
  std::string folder_of(const ElfImage& image) const {
    const Mapping* mapping = mapping_of(mappings_, reinterpret_cast<uintptr_t>(image.dynamic()));
    return mapping ? mapping->path.substr(0, mapping->path.find_last_of('/') + 1) : "";
  }
  bool program_imports(const char* name) const {
    const ElfImage* program = image_of(images_, "");
    return program && !program->find(name);
  }

  const std::vector<Mapping> mappings_ = file_mappings();
  const std::vector<ElfImage> images_ = ElfImage::all();
  std::string path_, folder_;  // of libc
};

template <class Function>
NamedAddress named(const char* name, Function* function) {
  return {name, reinterpret_cast<const void*>(function)};
}

}  // namespace

std::vector<LibcFunction> libc_functions(const std::vector<NamedAddress>& addresses) {
  const CLibrary libc;
  std::vector<LibcFunction> functions;
  std::transform(addresses.begin(), addresses.end(), std::back_inserter(functions),
                 [&](const NamedAddress& each) { return libc.judge(each); });
  return functions;
}

bool is_c_library(const ElfImage& image) { return CLibrary().is_part(image); }

std::vector<LibcFunction> replaced_libc_functions() {
  using Open = int(const char*, int, ...);
  std::vector<LibcFunction> functions = libc_functions({
      named("dladdr", &::dladdr),
      named("dl_iterate_phdr", &::dl_iterate_phdr),
      named("dlinfo", &::dlinfo),
      named("dlopen", &::dlopen),
      named("open", static_cast<Open*>(&::open)),
      named("fopen", &::fopen),
      named("read", &::read),
      named("pread", &::pread),
      named("readlink", &::readlink),
      named("readlinkat", &::readlinkat),
      named("realpath", &::realpath),
      named("write", &::write),
      named("exit", &::exit),
      named("_exit", &::_exit),
      named("getenv", &::getenv),
  });
  functions.erase(std::remove_if(functions.begin(), functions.end(), [](const LibcFunction& each) { return each.own; }),
                  functions.end());
  return functions;
}

}  // namespace gvb
