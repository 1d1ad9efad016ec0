// Which functions the settings replace; the account of live blocks, and the byte limit per process, which is exact.
#include <mutex>
#include <unordered_map>

#include "driver/clock.h"
#include "interpose/compute_limit.h"
#include "interpose/interposer.h"

namespace gvb::interpose {

using abi::CUdeviceptr;
using abi::CUresult;

namespace {

struct Account {
  std::mutex mutex;
  uint64_t used = 0;
  std::unordered_map<CUdeviceptr, size_t> blocks;
};

Account& account() {
  static Account& instance = *new Account;
  return instance;
}

// The record of a replacement as a whole: its account costs time after the driver's call as well.
class Replacement {
 public:
  explicit Replacement(const char* function) {
    if (!call_log()) return;
    call_.function = static_cast<uint32_t>(cuda_function_index(function));
    call_.entered = now_ns();
  }
  ~Replacement() {
    if (!call_log()) return;
    call_log()->add(call_);
  }
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

 private:
  record::Call call_{};
};

bool exceeds_limit(size_t bytes) {
  const uint64_t limit = settings().memory_limit;
  return limit > 0 && bytes > limit - account().used;
}

CUresult counted_alloc(CUdeviceptr* pointer, size_t bytes) {
  const Replacement replacement("cuMemAlloc_v2");
  const std::lock_guard<std::mutex> lock(account().mutex);
  if (exceeds_limit(bytes)) return abi::CUDA_ERROR_OUT_OF_MEMORY;
  const CUresult code = driver().cuMemAlloc_v2(pointer, bytes);
  if (code != abi::CUDA_SUCCESS) return code;
  account().blocks[*pointer] = bytes;
  account().used += bytes;
  set_live_blocks(account().blocks.size());
  return code;
}

CUresult counted_free(CUdeviceptr pointer) {
  const Replacement replacement("cuMemFree_v2");
  const std::lock_guard<std::mutex> lock(account().mutex);
  const CUresult code = driver().cuMemFree_v2(pointer);
  const auto block = account().blocks.find(pointer);
  if (code != abi::CUDA_SUCCESS || block == account().blocks.end()) return code;
  account().used -= block->second;
  account().blocks.erase(block);
  set_live_blocks(account().blocks.size());
  return code;
}

CUresult limited_info(size_t* free_bytes, size_t* total) {
  const CUresult code = driver().cuMemGetInfo_v2(free_bytes, total);
  if (code != abi::CUDA_SUCCESS) return code;
  const std::lock_guard<std::mutex> lock(account().mutex);
  *total = settings().memory_limit;
  *free_bytes = settings().memory_limit - account().used;
  return code;
}

CUresult limited_total(size_t* total, abi::CUdevice device) {
  const CUresult code = driver().cuDeviceTotalMem_v2(total, device);
  if (code == abi::CUDA_SUCCESS) *total = settings().memory_limit;
  return code;
}

template <class Function>
void* address(Function function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

void* replacement(size_t function) {
  const CudaApi& api = driver();
  void* real = slot(api, function);
  if (settings().memory_limit > 0 || settings().per_live_ns > 0) {
    if (real == address(api.cuMemAlloc_v2)) return address(counted_alloc);
    if (real == address(api.cuMemFree_v2)) return address(counted_free);
  }
  if (settings().memory_limit > 0) {
    if (real == address(api.cuMemGetInfo_v2)) return address(limited_info);
    if (real == address(api.cuDeviceTotalMem_v2)) return address(limited_total);
  }
  if (settings().sm_percent < 100) {
    if (real == address(api.cuLaunchKernel)) return address(limited_launch);
    if (real == address(api.cuLaunchKernelEx)) return address(limited_launch_ex);
  }
  return nullptr;
}

}  // namespace gvb::interpose
