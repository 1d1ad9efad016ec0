#include "bench/first_kernel.h"

namespace gvb {

void FirstKernel::allocate() { words_.emplace(make_memory(cuda_, kWords * sizeof(uint32_t))); }

void FirstKernel::launch() {
  abi::CUdeviceptr words = words_->get();
  unsigned count = kWords, seed = kSeed;
  void* parameters[] = {&words, &count, &seed};
  GVB_CALL(cuda_, "launching the first kernel", cuLaunchKernel, kernel_, 4, 1, 1, 256, 1, 1, 0, nullptr, parameters,
           nullptr);
}

void FirstKernel::read() {
  GVB_CALL(cuda_, "reading the first result", cuMemcpyDtoH_v2, result_.data(), words_->get(), sizeof result_);
}

bool FirstKernel::correct() const {
  for (uint32_t i = 0; i < kWords; ++i)
    if (result_[i] != (i + kSeed) * 2654435761u) return false;
  return true;
}

}  // namespace gvb
