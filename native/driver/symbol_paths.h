// The ways to find a driver function. Interposers catch some and miss others, so all four are kept:
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

// The CUDA version of the driver, such as 12020; 0 if it does not say.
int driver_version(const CudaApi& api);

// libc's own dlsym, read from libc's symbol table, so that a preloaded dlsym cannot replace it.
DlsymFunction libc_dlsym();

struct SymbolTables {
  // One table per SymbolPath, in its order.
  std::array<CudaApi, 4> by_path;
  // The entry points that the driver's own cuGetProcAddress returns: the bare counterpart of the runtime path. They can
  // differ from the exported ones.
  CudaApi bare_runtime;

  const CudaApi& of(SymbolPath path) const { return by_path[static_cast<size_t>(path)]; }
  // Whether an address is one of the two that the driver itself has for the function in row `index`.
  bool is_drivers(size_t index, const void* address) const {
    return address == slot(of(SymbolPath::kBare), index) || address == slot(bare_runtime, index);
  }
  const CudaApi& reference_of(SymbolPath path) const {
    return path == SymbolPath::kRuntime ? bare_runtime : of(SymbolPath::kBare);
  }
};

// `libcuda`: the result of dlopen. `driver`: the real driver, which differs if libcuda.so.1 was replaced.
SymbolTables resolve_cuda(void* libcuda, const ElfImage& driver);
// Fills only the `bare` half of the tables.
void resolve_bare(SymbolTables& tables, const ElfImage& driver);
// Removes from the runtime path what is newer than the driver: cuGetProcAddress returns an older ABI of such a name
// (cuCtxGetDevice). Call it after cuInit: a libcuda.so.1 in the driver's place may load the driver only then.
void leave_out_newer(SymbolTables& tables);
NvmlApi resolve_nvml_bare(const ElfImage& image);
NvmlApi resolve_nvml_dlsym(void* libnvidia_ml);

}  // namespace gvb
