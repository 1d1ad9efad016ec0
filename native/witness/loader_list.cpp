#include "witness/loader_list.h"

#include <elf.h>

namespace gvb::witness {

namespace {

const Namespace* own_namespace = nullptr;

struct Program {
  const ElfW(Phdr) * headers = nullptr;
  size_t count = 0;
};

Program program_behind(char* const* environment) {
  Program program;
  while (*environment) ++environment;
  for (auto* entry = reinterpret_cast<const ElfW(auxv_t)*>(environment + 1); entry->a_type != AT_NULL; ++entry) {
    if (entry->a_type == AT_PHDR) program.headers = reinterpret_cast<const ElfW(Phdr)*>(entry->a_un.a_val);
    if (entry->a_type == AT_PHNUM) program.count = entry->a_un.a_val;
  }
  return program;
}

const r_debug* named_by(const Program& program) {
  ElfW(Addr) base = 0;
  for (size_t i = 0; i < program.count; ++i) {
    const ElfW(Phdr)& header = program.headers[i];
    if (header.p_type == PT_PHDR) base = reinterpret_cast<ElfW(Addr)>(program.headers) - header.p_vaddr;
    if (header.p_type != PT_DYNAMIC) continue;
    for (auto* d = reinterpret_cast<const ElfW(Dyn)*>(base + header.p_vaddr); d->d_tag != DT_NULL; ++d)
      if (d->d_tag == DT_DEBUG) return reinterpret_cast<const r_debug*>(d->d_un.d_ptr);
  }
  return nullptr;
}

}  // namespace

void find_loader_list(char* const* environment) {
  const r_debug* list = environment ? named_by(program_behind(environment)) : nullptr;
  // A program that was started through the loader's own command line names none.
  own_namespace = reinterpret_cast<const Namespace*>(list ? list : &_r_debug);
}

const Namespace* first_namespace() { return own_namespace; }

}  // namespace gvb::witness
