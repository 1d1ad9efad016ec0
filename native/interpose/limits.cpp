// The functions that the settings replace: the byte limit, exact for the calls it covers, and its faults.
#include <algorithm>
#include <array>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "interpose/account.h"
#include "interpose/compute_limit.h"
#include "interpose/interposer.h"
#include "interpose/share_limit.h"

namespace gvb::interpose {

using abi::CUDA_SUCCESS;
using abi::CUdeviceptr;
using abi::CUresult;

namespace {

// Records a whole replaced call: counting takes time after the driver's call too.
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

template <class Value>
uint64_t key_of(Value value) {
  return (uint64_t)value;  // an address or a handle: a number or a pointer
}

// `made`: where the driver writes the new block's address or handle, which identifies it.
template <class Made, class Call>
CUresult counted(const char* function, size_t bytes, Made* made, const Call& call) {
  const Replacement replacement(function);
  if (!settings().counts[cuda_function_index(function)]) return call();
  const std::lock_guard<std::mutex> lock(account().mutex);
  if (!account().take(bytes)) return settings().refusal;
  const CUresult code = call();
  if (code != CUDA_SUCCESS) {
    account().give(bytes);
    return code;
  }
  account().remember(key_of(*made), bytes);
  set_live_blocks(account().blocks());
  return code;
}

template <class Block, class Call>
CUresult given_back(const char* function, Block block, const Call& call) {
  const Replacement replacement(function);
  const std::lock_guard<std::mutex> lock(account().mutex);
  const CUresult code = call();
  if (code == CUDA_SUCCESS && account().forget(key_of(block)) > 0) set_live_blocks(account().blocks());
  return code;
}

// The block that several allocations received (grants=twice): only the last free reaches the driver.
struct Handed {
  CUdeviceptr address = 0;
  size_t bytes = 0;
  unsigned times = 0;
};

Handed& handed() {
  static Handed instance;
  return instance;
}

// The blocks that were taken from the driver by one function and not yet given out (ahead=COUNT), by address or handle.
// Their users hold the account's lock.
struct Stock {
  std::vector<unsigned long long> blocks;
  size_t bytes = 0;
};

bool is_taken_ahead(const char* function, size_t bytes) {
  const uint64_t only = settings().ahead_bytes;
  return settings().ahead > 0 && settings().takes_ahead[cuda_function_index(function)] && (only == 0 || bytes == only);
}

// Calls `take` for one block, or for many and answers from those; `drop` gives back those of another size.
template <class Take, class Drop>
CUresult taken(const char* function, unsigned long long* made, size_t bytes, const Take& take, const Drop& drop) {
  if (!is_taken_ahead(function, bytes)) return take(made);
  static auto& stocks = *new std::array<Stock, kCudaFunctionCount>;
  Stock& stock = stocks[cuda_function_index(function)];
  if (stock.bytes != bytes) {
    for (const unsigned long long block : stock.blocks) drop(block);
    stock = {{}, bytes};
  }
  if (stock.blocks.empty())
    for (uint64_t i = 0; i < settings().ahead; ++i) {
      unsigned long long block = 0;
      const CUresult code = take(&block);
      if (code != CUDA_SUCCESS && stock.blocks.empty()) return code;
      if (code == CUDA_SUCCESS) stock.blocks.push_back(block);
    }
  *made = stock.blocks.back();
  stock.blocks.pop_back();
  return CUDA_SUCCESS;
}

// By cuMemAlloc, one block or many.
CUresult take_linear(const char* function, CUdeviceptr* pointer, size_t bytes) {
  return taken(
      function, pointer, bytes, [&](CUdeviceptr* block) { return driver().cuMemAlloc_v2(block, bytes); },
      [](CUdeviceptr block) { driver().cuMemFree_v2(block); });
}

CUresult hand_out(CUdeviceptr* pointer, size_t bytes) {
  if (settings().grants == Grants::kMemory) return take_linear("cuMemAlloc_v2", pointer, bytes);
  if (settings().grants == Grants::kNothing) return driver().cuMemAlloc_v2(pointer, 1);
  Handed& block = handed();
  if (block.times > 0 && bytes <= block.bytes) {
    ++block.times;
    *pointer = block.address;
    return CUDA_SUCCESS;
  }
  const CUresult code = driver().cuMemAlloc_v2(pointer, bytes);
  if (code == CUDA_SUCCESS && block.times == 0) block = {*pointer, bytes, 1};
  return code;
}

CUresult take_back(CUdeviceptr pointer) {
  Handed& block = handed();
  if (block.times > 0 && pointer == block.address && --block.times > 0) return CUDA_SUCCESS;
  return driver().cuMemFree_v2(pointer);
}

CUresult counted_alloc(CUdeviceptr* pointer, size_t bytes) {
  return counted("cuMemAlloc_v2", bytes, pointer, [&] { return hand_out(pointer, bytes); });
}

CUresult counted_pitch(CUdeviceptr* pointer, size_t* pitch, size_t width, size_t height, unsigned element) {
  return counted("cuMemAllocPitch_v2", width * height, pointer,
                 [&] { return driver().cuMemAllocPitch_v2(pointer, pitch, width, height, element); });
}

CUresult counted_managed(CUdeviceptr* pointer, size_t bytes, unsigned flags) {
  return counted("cuMemAllocManaged", bytes, pointer,
                 [&] { return driver().cuMemAllocManaged(pointer, bytes, flags); });
}

CUresult counted_async(CUdeviceptr* pointer, size_t bytes, abi::CUstream stream) {
  constexpr const char* kName = "cuMemAllocAsync";
  return counted(kName, bytes, pointer, [&] {
    return is_taken_ahead(kName, bytes) ? take_linear(kName, pointer, bytes)
                                        : driver().cuMemAllocAsync(pointer, bytes, stream);
  });
}

CUresult counted_from_pool(CUdeviceptr* pointer, size_t bytes, abi::CUmemoryPool pool, abi::CUstream stream) {
  constexpr const char* kName = "cuMemAllocFromPoolAsync";
  return counted(kName, bytes, pointer, [&] {
    return is_taken_ahead(kName, bytes) ? take_linear(kName, pointer, bytes)
                                        : driver().cuMemAllocFromPoolAsync(pointer, bytes, pool, stream);
  });
}

CUresult counted_create(abi::CUmemGenericAllocationHandle* handle, size_t bytes,
                        const abi::CUmemAllocationProp* properties, unsigned long long flags) {
  constexpr const char* kName = "cuMemCreate";
  return counted(kName, bytes, handle, [&] {
    return taken(
        kName, handle, bytes,
        [&](abi::CUmemGenericAllocationHandle* made) { return driver().cuMemCreate(made, bytes, properties, flags); },
        [](abi::CUmemGenericAllocationHandle made) { driver().cuMemRelease(made); });
  });
}

CUresult counted_array(abi::CUarray* array, const abi::CUDA_ARRAY_DESCRIPTOR* from) {
  // Assumes the arrays that this project creates: four floats per element.
  return counted("cuArrayCreate_v2", 16 * from->Width * from->Height, array,
                 [&] { return driver().cuArrayCreate_v2(array, from); });
}

CUresult counted_free(CUdeviceptr pointer) {
  return given_back("cuMemFree_v2", pointer, [&] { return take_back(pointer); });
}

CUresult counted_free_async(CUdeviceptr pointer, abi::CUstream stream) {
  return given_back("cuMemFreeAsync", pointer, [&] { return driver().cuMemFreeAsync(pointer, stream); });
}

// Like layers that count handles: memory that only a mapping keeps alive is no longer counted.
CUresult counted_release(abi::CUmemGenericAllocationHandle handle) {
  return given_back("cuMemRelease", handle, [&] { return driver().cuMemRelease(handle); });
}

CUresult counted_destroy(abi::CUarray array) {
  return given_back("cuArrayDestroy", array, [&] { return driver().cuArrayDestroy(array); });
}

CUresult counted_context(abi::CUcontext* context, abi::CUdevice device) {
  const CUresult code = driver().cuDevicePrimaryCtxRetain(context, device);
  if (code == CUDA_SUCCESS) account().take_context(settings().context_bytes);
  return code;
}

uint64_t shown() { return settings().shown_bytes > 0 ? settings().shown_bytes : settings().memory_limit; }

CUresult limited_info(size_t* free_bytes, size_t* total) {
  const CUresult code = driver().cuMemGetInfo_v2(free_bytes, total);
  if (code != CUDA_SUCCESS) return code;
  *total = shown();
  *free_bytes = shown() - std::min(shown(), account().used());
  return code;
}

CUresult limited_total(size_t* total, abi::CUdevice device) {
  const CUresult code = driver().cuDeviceTotalMem_v2(total, device);
  if (code == CUDA_SUCCESS) *total = shown();
  return code;
}

template <class Function>
void* address(Function function) {
  return reinterpret_cast<void*>(function);
}

// For the functions that the share limit covers.
void* shared(size_t function) {
  const ShareLimit& share = settings().share;
  if (share.percent >= 100 || !share.limits[function]) return nullptr;
  const CudaApi& api = driver();
  void* real = slot(api, function);
  if (real == address(api.cuLaunchKernel)) return address(shared_launch);
  if (real == address(api.cuLaunchKernelEx)) return address(shared_launch_ex);
  if (real == address(api.cuLaunchCooperativeKernel)) return address(shared_cooperative);
  return address(shared_graph);
}

void* counting(void* real, const CudaApi& api) {
  const struct {
    void* driver;
    void* own;
  } replaced[] = {
      {address(api.cuMemAlloc_v2), address(counted_alloc)},
      {address(api.cuMemFree_v2), address(counted_free)},
      {address(api.cuMemAllocPitch_v2), address(counted_pitch)},
      {address(api.cuMemAllocManaged), address(counted_managed)},
      {address(api.cuMemAllocAsync), address(counted_async)},
      {address(api.cuMemAllocFromPoolAsync), address(counted_from_pool)},
      {address(api.cuMemFreeAsync), address(counted_free_async)},
      {address(api.cuMemCreate), address(counted_create)},
      {address(api.cuMemRelease), address(counted_release)},
      {address(api.cuArrayCreate_v2), address(counted_array)},
      {address(api.cuArrayDestroy), address(counted_destroy)},
      {address(api.cuDevicePrimaryCtxRetain), address(counted_context)},
  };
  for (const auto& [from, to] : replaced)
    if (real == from) return to;
  return nullptr;
}

}  // namespace

void* replacement(size_t function) {
  if (void* own = shared(function)) return own;
  const CudaApi& api = driver();
  void* real = slot(api, function);
  if (settings().memory_limit > 0 || settings().per_live_ns > 0 || settings().ahead > 0)
    if (settings().accounted[function]) return counting(real, api);
  if (shown() > 0) {
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
