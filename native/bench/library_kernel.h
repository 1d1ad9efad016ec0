// A kernel held in the way frameworks do since CUDA 12: it belongs to a library, not to a context.
#pragma once

#include "bench/device_session.h"
#include "bench/ptx_refusal.h"
#include "kernels/ptx.h"

namespace gvb {

class LibraryKernel {
 public:
  LibraryKernel(const Cuda& cuda, const char* name) : library_(load(cuda)) {
    GVB_CALL(cuda, "looking up a kernel", cuLibraryGetKernel, &kernel_, library_.get(), name);
  }

  abi::CUkernel get() const { return kernel_; }

 private:
  using Library = Owned<abi::CUlibrary, &CudaApi::cuLibraryUnload>;

  static Library load(const Cuda& cuda) {
    abi::CUlibrary library = nullptr;
    const auto load = cuda.require(cuda.api.cuLibraryLoadData, "cuLibraryLoadData");
    check_compiler();
    const abi::CUresult code = load(&library, gvb_ptx_base, nullptr, nullptr, 0, nullptr, nullptr, 0);
    check_loaded(cuda, "cuLibraryLoadData", code, gvb_ptx_base, "");
    return Library(cuda, library);
  }

  const Library library_;
  abi::CUkernel kernel_ = nullptr;
};

}  // namespace gvb
