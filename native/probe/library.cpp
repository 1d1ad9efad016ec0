#include "probe/library.h"

#include "driver/code_owner.h"

namespace gvb::probe {

using abi::CUDA_SUCCESS;
using abi::CUdriverProcAddressQueryResult;

std::string Library::open(const std::string& file, int flags) {
  handle_ = dlopen(file.c_str(), flags);
  opened_ = handle_ != nullptr;
  if (opened_) return "";
  const char* reason = dlerror();
  return reason ? reason : "unknown reason";
}

void Library::close() {
  dlclose(handle_);
  handle_ = nullptr;
  opened_ = false;
}

// Looks functions up like the CUDA runtime; see driver/symbol_paths.cpp. Like a program, uses a layer's answer without
// checking it.
void* Library::by_runtime(const Symbol& symbol) const {
  const auto get =
      reinterpret_cast<decltype(cuda::cuGetProcAddress_v2)::Pointer>(dlsym(handle_, "cuGetProcAddress_v2"));
  void* address = nullptr;
  auto status = CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  if (get && get(symbol.base, &address, symbol.version, abi::CU_GET_PROC_ADDRESS_DEFAULT, &status) == CUDA_SUCCESS &&
      address)
    return address;
  const bool too_new = status == CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
  return too_new ? nullptr : dlsym(handle_, symbol.exported);
}

void* Library::address(const Symbol& symbol) const {
  if (path_ == SymbolPath::kRuntime && symbol.base) return by_runtime(symbol);
  if (path_ != SymbolPath::kLinked || !symbol.base) return dlsym(handle_, symbol.exported);
  const DlsymFunction real_dlsym = libc_dlsym();
  return real_dlsym ? real_dlsym(RTLD_DEFAULT, symbol.exported) : nullptr;
}

void* Library::find(const Symbol& symbol) {
  void* found = address(symbol);
  if (found) found_[symbol.exported] = {found, owner_of(found)};
  return found;
}

}  // namespace gvb::probe
