// Function look-ups: dlsym and cuGetProcAddress return our hooks for the functions that GVB_INTERPOSE names, and
// everything else unchanged. The settings are read and checked when the library is loaded.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "driver/symbol_paths.h"
#include "interpose/interposer.h"

namespace gvb::interpose {

namespace {

[[noreturn]] void give_up(const char* why) {
  std::fprintf(stderr, "gpu-virt-bench interposer: %s\n", why);
  _exit(2);
}

Settings read_settings() {
  const char* text = std::getenv("GVB_INTERPOSE");
  try {
    Settings settings = parse_settings(text ? text : "");
    if (const char* record = std::getenv("GVB_INTERPOSE_RECORD")) settings.record = record;
    return settings;
  } catch (const std::invalid_argument& error) {
    give_up(error.what());
  }
}

DlsymFunction real_dlsym() {
  static const DlsymFunction function = libc_dlsym();
  return function;
}

CudaApi resolve_driver() {
  CudaApi table;
  // A caller of a driver function has loaded the driver; the soname finds it wherever it was loaded from.
  void* handle = dlopen("libcuda.so.1", RTLD_NOW);
  if (!handle) give_up(dlerror());
  const ElfImage image = ElfImage::of_handle(handle);
  for (size_t i = 0; i < kCudaFunctionCount; ++i) slot(table, i) = image.find(kCudaFunctions[i].name);
  return table;
}

abi::CUresult get_proc_address(const char* base, void** function, int version, unsigned long long flags,
                               abi::CUdriverProcAddressQueryResult* status) {
  const abi::CUresult code = driver().cuGetProcAddress_v2(base, function, version, flags, status);
  if (code != abi::CUDA_SUCCESS || !function || !*function) return code;
  // If several ABIs share the base name, the driver returned the newest that the requested version allows.
  size_t match = kCudaFunctionCount;
  for (size_t i = 0; i < kCudaFunctionCount; ++i) {
    const CudaFunction& candidate = kCudaFunctions[i];
    const bool newer = match == kCudaFunctionCount || candidate.version > kCudaFunctions[match].version;
    if (std::strcmp(candidate.base, base) == 0 && candidate.version <= version && newer) match = i;
  }
  if (match < kCudaFunctionCount && settings().hooked[match]) *function = hook_address(match);
  return code;
}

}  // namespace

const Settings& settings() {
  // Never destroyed: it is read while the process ends.
  static const Settings& parsed = *new Settings(read_settings());
  return parsed;
}

const CudaApi& driver() {
  static const CudaApi table = resolve_driver();
  return table;
}

__attribute__((constructor)) static void load() {
  try {
    prepare_hooks();
  } catch (const std::invalid_argument& error) {
    give_up(error.what());
  }
}

extern "C" __attribute__((visibility("default"))) void* dlsym(void* handle, const char* name) {
  if (settings().hooks_dlsym && name && std::strncmp(name, "cu", 2) == 0) {
    const size_t index = cuda_function_index(name);
    const bool asks_for_procaddress = settings().hooks_procaddress && std::strcmp(name, "cuGetProcAddress_v2") == 0;
    if (asks_for_procaddress) return reinterpret_cast<void*>(get_proc_address);
    if (index < kCudaFunctionCount && settings().hooked[index]) return hook_address(index);
  }
  // Must be a tail call: libc's dlsym checks its caller, and RTLD_NEXT means next after that object.
  return real_dlsym()(handle, name);
}

}  // namespace gvb::interpose
