#include "sim/hidden.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "sim/settings.h"

namespace gvb::sim {
namespace {

bool names(const std::vector<std::string>& hidden, const char* name) {
  return std::find(hidden.begin(), hidden.end(), name) != hidden.end();
}

// Makes the symbol at that address an undefined one: neither dlsym nor a reader of the symbol table finds it.
void undefine(const void* address) {
  Dl_info info;
  const ElfW(Sym)* symbol = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)), RTLD_DL_SYMENT) == 0 ||
      symbol == nullptr)
    std::abort();
  auto* const own = const_cast<ElfW(Sym)*>(symbol);
  const auto begin = reinterpret_cast<uintptr_t>(own) & ~(static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)) - 1);
  const size_t length = reinterpret_cast<uintptr_t>(own + 1) - begin;
  if (mprotect(reinterpret_cast<void*>(begin), length, PROT_READ | PROT_WRITE) != 0) std::abort();
  own->st_shndx = SHN_UNDEF;
  own->st_value = 0;
}

}  // namespace

bool is_hidden(const char* name) { return names(environment().hidden, name); }

void hide_exports(const std::vector<ExportedFunction>& exports) {
  const char* text = std::getenv("GVB_SIM");
  if (text == nullptr) return;
  const Environment parsed = parse_environment(text);
  if (!parsed.error.empty()) return;
  for (const ExportedFunction& each : exports)
    if (each.version > parsed.settings.driver_version || names(parsed.hidden, each.name)) undefine(each.address);
}

}  // namespace gvb::sim
