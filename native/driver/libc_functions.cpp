#include "driver/libc_functions.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>

#include "driver/code_owner.h"

namespace gvb {

namespace {

constexpr const char* kVdso = "linux-vdso.so.1";

const Mapping* mapping_of(const std::vector<Mapping>& mappings, uintptr_t address) {
  const auto found = std::find_if(mappings.begin(), mappings.end(), [&](const Mapping& mapping) {
    return address >= mapping.begin && address < mapping.end;
  });
  return found == mappings.end() ? nullptr : &*found;
}

bool in_kernel_code(const void* address) {
  const KernelCode code = kernel_code();
  const auto* at = static_cast<const unsigned char*>(address);
  return at >= code.bytes && at < code.bytes + code.size;
}

template <class Function>
NamedAddress named(const char* name, Function* function) {
  return {name, reinterpret_cast<const void*>(function)};
}

}  // namespace

CLibrary::CLibrary() : mappings_(file_mappings()), images_(ElfImage::all()) {
  const auto libc = std::find_if(images_.begin(), images_.end(), [](const ElfImage& image) {
    return image.soname() == "libc.so.6" && image.find("__libc_start_main");
  });
  if (libc == images_.end()) return;
  path_ = libc->path();
  folder_ = folder_of(*libc);
}

bool CLibrary::contains(const ElfImage& image) const {
  if (image.path() == path_ || image.base() == auxiliary_value(AT_BASE)) return true;
  const std::string name = image.soname();
  return (name == "libdl.so.2" || name == "libpthread.so.0") && !folder_.empty() && folder_of(image) == folder_;
}

std::string CLibrary::folder_of(const ElfImage& image) const {
  const Mapping* mapping = mapping_of(mappings_, reinterpret_cast<uintptr_t>(image.dynamic()));
  return mapping ? mapping->path.substr(0, mapping->path.find_last_of('/') + 1) : "";
}

LibcFunction CLibrary::judge(const NamedAddress& named, Files& files) const {
  if (in_kernel_code(named.second)) return {named.first, kVdso, true};
  LibcFunction function{named.first, owner_of(named.second, images_), false};
  const ElfImage* image = image_of(images_, function.owner == kProgram ? "" : function.owner);
  if (!image) return function;
  // An executable at a fixed address has an entry of its own that leads to the function.
  if (function.owner == kProgram) {
    function.own = !image->find(named.first);
    return function;
  }
  if (!contains(*image)) return function;
  const auto patch = files.try_emplace(function.owner, *image).first->second.patch_at(named.second);
  function.own = !patch;
  if (patch && !patch->owner.empty()) function.owner = patch->owner;
  return function;
}

std::vector<LibcFunction> CLibrary::judged(const std::vector<NamedAddress>& addresses) const {
  Files files;
  std::vector<LibcFunction> functions;
  std::transform(addresses.begin(), addresses.end(), std::back_inserter(functions),
                 [&](const NamedAddress& each) { return judge(each, files); });
  return functions;
}

std::vector<LibcFunction> CLibrary::replaced() const {
  using Open = int(const char*, int, ...);
  std::vector<LibcFunction> functions = judged({
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
