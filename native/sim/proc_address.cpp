#include <algorithm>
#include <cstring>
#include <iterator>

#include "sim/driver.h"
#include "sim/exports.h"
#include "sim/hidden.h"
#include "sim/settings.h"

namespace gvb::sim {
namespace {

struct Entry : ExportedFunction {
  const char* base;
};

const Entry kEntries[] = {
#define GVB_CUDA(name, base, version, params) {{#name, version, reinterpret_cast<void*>(&abi::name)}, base},
#include "driver/cuda_functions.inc"
#include "sim/extra_functions.inc"
#undef GVB_CUDA
};

__attribute__((constructor)) void hide_what_it_lacks() { hide_exports({std::begin(kEntries), std::end(kEntries)}); }

struct Found {
  void* address;
  abi::CUdriverProcAddressQueryResult result;
};

// A base name may stand for several ABIs: picks the newest that both the caller and the driver know.
Found find(const char* base, int version) {
  const int known = std::min(version, static_cast<int>(settings().driver_version));
  bool exists = false;
  const Entry* best = nullptr;
  for (const Entry& entry : kEntries) {
    if (std::strcmp(entry.base, base) != 0) continue;
    exists = true;
    if (entry.version <= known && (best == nullptr || entry.version > best->version)) best = &entry;
  }
  if (best != nullptr && !is_hidden(best->name)) return {best->address, abi::CU_GET_PROC_ADDRESS_SUCCESS};
  return {nullptr, exists && best == nullptr ? abi::CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                             : abi::CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND};
}

}  // namespace
}  // namespace gvb::sim

namespace gvb::abi {

CUresult cuGetProcAddress_v2(const char* base, void** address, int version, unsigned long long flags,
                             CUdriverProcAddressQueryResult* result) {
  GVB_SIM_CALL(cuGetProcAddress_v2);
  constexpr auto kBoth = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (base == nullptr || address == nullptr || flags >= kBoth) return CUDA_ERROR_INVALID_VALUE;
  const sim::Found found = sim::find(base, version);
  *address = found.address;
  if (result != nullptr) *result = found.result;
  return found.result == CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char* base, void** address, int version, unsigned long long flags) {
  GVB_SIM_CALL(cuGetProcAddress);
  return cuGetProcAddress_v2(base, address, version, flags, nullptr);
}

}  // namespace gvb::abi
