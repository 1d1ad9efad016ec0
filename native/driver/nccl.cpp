#include "driver/nccl.h"

#include <dlfcn.h>

#include "driver/code_owner.h"

namespace gvb {

namespace {

constexpr const char* kNcclLibrary = "libnccl.so.2";

// 22707 is 2.27.7; before 2.9, 2804 was 2.8.4.
std::string version_text(int version) {
  const int major = version < 10'000 ? 1'000 : 10'000;
  return std::to_string(version / major) + "." + std::to_string(version % major / 100) + "." +
         std::to_string(version % 100);
}

template <class Function>
bool resolve(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

std::string missing_function(void* library, abi::NcclApi* api) {
#define GVB_NCCL(name, parameters) \
  if (!resolve(library, #name, &api->name)) return #name;
#include "driver/nccl_functions.inc"
#undef GVB_NCCL
  resolve(library, "ncclGetErrorString", &api->ncclGetErrorString);
  resolve(library, "ncclGetLastError", &api->ncclGetLastError);
  return "";
}

FoundNccl load() {
  void* library = dlopen(kNcclLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* why = dlerror();
    return {nullptr, std::string("NCCL was not found (") + (why ? why : kNcclLibrary) + ")"};
  }
  auto* nccl = new Nccl;
  const std::string missing = missing_function(library, &nccl->api);
  nccl->path = owner_of(reinterpret_cast<const void*>(nccl->api.ncclGetVersion));
  if (!missing.empty()) return {nullptr, nccl->path + " is no NCCL: it has no " + missing};
  nccl->simulated = dlsym(library, "gvbSimulatedNccl") != nullptr;
  int version = 0;
  const std::string failure = nccl->failure(nccl->api.ncclGetVersion(&version), "ncclGetVersion");
  if (!failure.empty()) return {nullptr, failure};
  nccl->version = version_text(version);
  return {nccl, ""};
}

}  // namespace

std::string Nccl::failure(abi::ncclResult_t code, const char* call) const {
  if (code == abi::ncclSuccess) return "";
  const char* what = api.ncclGetErrorString ? api.ncclGetErrorString(code) : nullptr;
  const char* last = api.ncclGetLastError ? api.ncclGetLastError(nullptr) : nullptr;
  return std::string(call) + " returned " + std::to_string(static_cast<int>(code)) +
         (what ? std::string(", ") + what : "") + (last && *last ? std::string(": ") + last : "");
}

FoundNccl find_nccl(bool simulated_driver) {
  // Never destroyed: NCCL's own threads may still run while the process exits.
  static const FoundNccl& found = *new FoundNccl(load());
  if (!found.nccl || found.nccl->simulated == simulated_driver) return found;
  return {nullptr, found.nccl->path + (simulated_driver ? " is a real NCCL and the GPU is simulated"
                                                        : " is the simulated NCCL and the GPU is real")};
}

}  // namespace gvb
