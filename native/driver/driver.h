// The loaded driver of this process: its libraries, symbol tables, and the only checked way to call it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "driver/device_files.h"
#include "driver/error.h"
#include "driver/nvml.h"
#include "driver/symbol_paths.h"

namespace gvb {

// Calls a driver function of `cuda` (a Cuda) and throws if it is missing or fails. The attempt is a phrase that
// completes "while …".
#define GVB_CALL(cuda, attempt, function, ...) \
  (cuda).check((cuda).require((cuda).api.function, #function)(__VA_ARGS__), #function, attempt)

// The functions of one symbol path, with checked calls.
class Cuda {
 public:
  Cuda(const SymbolTables& tables, SymbolPath resolved_by)
      : api(tables.of(resolved_by)), path(resolved_by), tables_(tables) {}
  // Uses other functions, which must outlive it.
  Cuda(const Cuda& like, const CudaApi& functions) : api(functions), path(like.path), tables_(like.tables_) {}

  template <class Function>
  Function require(Function function, const char* name) const {
    if (!function) fail_missing(name);
    return function;
  }
  // `wanted`: bytes of device memory that the call asked for.
  void check(abi::CUresult code, const char* call, const char* attempt, size_t wanted = 0) const {
    if (code != abi::CUDA_SUCCESS) fail(code, call, attempt, wanted);
  }
  // For clean-up, which must not throw: calls the function unless a layer hides it, and ignores its code.
  template <class... Parameters>
  void try_call(abi::CUresult (*function)(Parameters...), std::common_type_t<Parameters>... arguments) const {
    if (function) static_cast<void>(function(arguments...));
  }
  std::string error_name(abi::CUresult code) const;

  const CudaApi& api;
  const SymbolPath path;

 private:
  const SymbolTables& tables_;

  [[noreturn]] void fail(abi::CUresult code, const char* call, const char* attempt, size_t wanted) const;
  [[noreturn]] void fail_missing(const char* name) const;
};

// The result of dlopen, and how long it took.
struct OpenedLibrary {
  void* handle;
  int64_t took_ns;
};

class Driver {
 public:
  // Loads libcuda.so.1 and NVML at first use: the machine's, or those in `simulated_folder`. A process keeps the one it
  // loaded first.
  static const Driver& load(const std::optional<std::string>& simulated_folder);

  Cuda cuda(SymbolPath path) const { return Cuda(tables, path); }
  // Calls cuInit through that path, once per path.
  void initialise(SymbolPath path) const;
  // Call once the driver is initialised: a libcuda.so.1 that only forwards may have loaded the real driver by then.
  void find_true_driver() const;

  // Detected by a symbol that only the simulation exports, no matter how it was loaded.
  mutable bool simulated = false;
  const bool from_folder;
  std::string libcuda_path;         // path that dlopen found
  mutable std::string driver_path;  // the driver itself: differs if libcuda.so.1 was replaced
  mutable SymbolTables tables;
  const DeviceFiles files_before_load;
  // Loaded before NVML: a process without a driver then keeps no NVML either, and can still use the simulation.
  const OpenedLibrary opened;  // libcuda
  const Nvml& nvml;
  int64_t resolve_ns;
  DeviceFiles files_loaded, files_resolved;

 private:
  explicit Driver(const std::optional<std::string>& simulated_folder);
};

}  // namespace gvb
