// The four ways an application finds a driver function. Interposers catch some and miss others, so all four are kept:
//   runtime  cuGetProcAddress (itself found by dlsym on the libcuda handle), as the CUDA runtime does
//   dlsym    the process's dlsym on the libcuda handle, exported names
//   linked   libc's own dlsym over the global scope: what a program linked with -lcuda binds to
//   bare     the driver's own ELF symbol table; no application uses it; it is the reference
#pragma once

#include <array>
#include <string>

#include "driver/api_tables.h"
#include "driver/elf_image.h"

namespace gvb {

enum class SymbolPath { kRuntime, kDlsym, kLinked, kBare };
const char* to_string(SymbolPath path);

using DlsymFunction = void* (*)(void*, const char*);

// libc's own dlsym, read from libc's symbol table, so that no preloaded dlsym stands in for it.
DlsymFunction libc_dlsym();

struct SymbolTables {
  // One table per SymbolPath, in its order.
  std::array<CudaApi, 4> by_path;
  // What the driver's own cuGetProcAddress returns: the bare counterpart of the runtime path, whose entry points need
  // not be the exported ones.
  CudaApi bare_runtime;

  const CudaApi& of(SymbolPath path) const { return by_path[static_cast<size_t>(path)]; }
  const CudaApi& reference_of(SymbolPath path) const {
    return path == SymbolPath::kRuntime ? bare_runtime : of(SymbolPath::kBare);
  }
};

// `libcuda`: what dlopen gave; `driver`: the library that is the driver, which a replaced libcuda.so.1 is not.
SymbolTables resolve_cuda(void* libcuda, const ElfImage& driver);
// The `bare` half of the tables alone.
void resolve_bare(SymbolTables& tables, const ElfImage& driver);
NvmlApi resolve_nvml_bare(const ElfImage& image);
NvmlApi resolve_nvml_dlsym(void* libnvidia_ml);

// Path of the object that owns an address; empty for nullptr or when no object does.
std::string owner_of(const void* address);

}  // namespace gvb
