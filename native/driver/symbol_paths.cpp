#include "driver/symbol_paths.h"

#include <dlfcn.h>

#include <cstring>

namespace gvb {

using abi::CUDA_SUCCESS;
using abi::CUdriverProcAddressQueryResult;

const char* to_string(SymbolPath path) {
  constexpr const char* names[] = {"runtime", "dlsym", "linked", "bare"};
  return names[static_cast<size_t>(path)];
}

size_t cuda_function_index(const char* name) {
  size_t i = 0;
  while (i < kCudaFunctionCount && std::strcmp(kCudaFunctions[i].name, name) != 0) ++i;
  return i;
}

int driver_version(const CudaApi& api) {
  int version = 0;
  return api.cuDriverGetVersion && api.cuDriverGetVersion(&version) == CUDA_SUCCESS ? version : 0;
}

DlsymFunction libc_dlsym() {
  // libc has it since glibc 2.34, libdl before.
  for (const char* library : {"libc.so.6", "libdl.so.2"}) {
    void* handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    if (!handle) continue;
    void* found = ElfImage::of_handle(handle).find("dlsym");
    dlclose(handle);
    if (found) return reinterpret_cast<DlsymFunction>(found);
  }
  return nullptr;
}

namespace {

using GetProcAddress = decltype(CudaApi::cuGetProcAddress_v2);

// Whether an address is a layer's function with the right base name but another ABI. A layer that answers
// cuGetProcAddress by base name alone returns its newest function (HAMi-core: cuCtxCreate_v3 when version 3020 was
// asked for), and a call through it would pass the wrong arguments.
bool has_other_abi(void* address, const CudaFunction& function, const std::string& driver) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || !info.dli_sname || info.dli_saddr != address || driver == info.dli_fname)
    return false;
  const size_t length = std::strlen(function.base);
  const bool same_base = std::strncmp(info.dli_sname, function.base, length) == 0 &&
                         (info.dli_sname[length] == '\0' || std::strncmp(info.dli_sname + length, "_v", 2) == 0);
  return same_base && std::strcmp(info.dli_sname, function.name) != 0;
}

// A function that the driver says is newer than itself stays unresolved: its export, if any, cannot be trusted. A
// function that cuGetProcAddress does not know is looked up by its exported name.
CudaApi resolve_runtime(GetProcAddress get, const std::string& driver,
                        void* (*exported)(const void* context, const char* name), const void* context) {
  CudaApi table;
  for (size_t i = 0; i < kCudaFunctionCount; ++i) {
    const CudaFunction& function = kCudaFunctions[i];
    void* address = nullptr;
    auto status = CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    const bool found = get && get(function.base, &address, function.version, abi::CU_GET_PROC_ADDRESS_DEFAULT,
                                  &status) == CUDA_SUCCESS;
    if (found && address)
      slot(table, i) = has_other_abi(address, function, driver) ? nullptr : address;
    else if (status != CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT)
      slot(table, i) = exported(context, function.name);
  }
  return table;
}

}  // namespace

void resolve_bare(SymbolTables& tables, const ElfImage& driver) {
  CudaApi& bare = tables.by_path[static_cast<size_t>(SymbolPath::kBare)];
  for (size_t i = 0; i < kCudaFunctionCount; ++i) slot(bare, i) = driver.find(kCudaFunctions[i].name);
  tables.bare_runtime = resolve_runtime(
      bare.cuGetProcAddress_v2, driver.path(),
      [](const void* elf, const char* name) { return static_cast<const ElfImage*>(elf)->find(name); }, &driver);
}

SymbolTables resolve_cuda(void* libcuda, const ElfImage& driver) {
  SymbolTables tables;
  CudaApi& by_dlsym = tables.by_path[static_cast<size_t>(SymbolPath::kDlsym)];
  CudaApi& linked = tables.by_path[static_cast<size_t>(SymbolPath::kLinked)];
  const DlsymFunction real_dlsym = libc_dlsym();
  for (size_t i = 0; i < kCudaFunctionCount; ++i) {
    const char* name = kCudaFunctions[i].name;
    slot(by_dlsym, i) = dlsym(libcuda, name);
    slot(linked, i) = real_dlsym ? real_dlsym(RTLD_DEFAULT, name) : nullptr;
  }
  tables.by_path[static_cast<size_t>(SymbolPath::kRuntime)] = resolve_runtime(
      by_dlsym.cuGetProcAddress_v2, driver.path(),
      [](const void* handle, const char* name) { return dlsym(const_cast<void*>(handle), name); }, libcuda);
  resolve_bare(tables, driver);
  return tables;
}

void leave_out_newer(SymbolTables& tables) {
  const int known = driver_version(tables.of(SymbolPath::kBare));
  if (known == 0) return;
  for (CudaApi* table : {&tables.by_path[static_cast<size_t>(SymbolPath::kRuntime)], &tables.bare_runtime})
    for (size_t i = 0; i < kCudaFunctionCount; ++i)
      if (kCudaFunctions[i].version > known) slot(*table, i) = nullptr;
}

NvmlApi resolve_nvml_bare(const ElfImage& image) {
  NvmlApi table;
  for (size_t i = 0; i < kNvmlFunctionCount; ++i) slot(table, i) = image.find(kNvmlFunctions[i]);
  return table;
}

NvmlApi resolve_nvml_dlsym(void* libnvidia_ml) {
  NvmlApi table;
  for (size_t i = 0; i < kNvmlFunctionCount; ++i) slot(table, i) = dlsym(libnvidia_ml, kNvmlFunctions[i]);
  return table;
}

}  // namespace gvb
