#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "sim_parts.h"

namespace test {
namespace {

nvmlDevice_t nvmlDevice() {
  nvmlDevice_t device = nullptr;
  CHECK_EQUAL(nvmlInit_v2(), NVML_SUCCESS);
  CHECK_EQUAL(nvmlDeviceGetHandleByIndex_v2(0, &device), NVML_SUCCESS);
  return device;
}

// Starts a process that holds 1000 MiB and waits until the card shows them.
int start_holder() {
  const size_t before = free_bytes();
  const int child = start_part("holdMemory", kFast, own_region());
  for (int i = 0; i < 40000 && before - free_bytes() < 1500 * kMiB; ++i) usleep(5000);
  CHECK_EQUAL(before - free_bytes(), 1500 * kMiB);
  return child;
}

}  // namespace

void memory() {
  enter_primary();
  const size_t before = free_bytes();
  CHECK_EQUAL(before, (143771 - 500 - 2) * kMiB);
  CUdeviceptr address = 0;
  CHECK_EQUAL(cuMemAlloc_v2(&address, 0), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(cuMemAlloc_v2(&address, before + 1), CUDA_ERROR_OUT_OF_MEMORY);
  CHECK_EQUAL(cuMemAlloc_v2(&address, before), CUDA_SUCCESS);
  CHECK_EQUAL(free_bytes(), size_t{0});
  CUdeviceptr another = 0;
  CHECK_EQUAL(cuMemAlloc_v2(&another, 1), CUDA_ERROR_OUT_OF_MEMORY);
  CHECK_EQUAL(cuMemsetD8_v2(address, 0, before), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemsetD32_v2(address + 4096, 0x12345678, 100), CUDA_SUCCESS);
  unsigned words[100] = {};
  CHECK_EQUAL(cuMemcpyDtoH_v2(words, address + 4096, sizeof words), CUDA_SUCCESS);
  CHECK_EQUAL(words[99], 0x12345678u);
  CHECK_EQUAL(cuMemcpyHtoD_v2(address + before - 4, words, 4), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemcpyHtoD_v2(address + before - 4, words, 8), CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr base = 0;
  size_t bytes = 0;
  CHECK_EQUAL(cuMemGetAddressRange_v2(&base, &bytes, address + 12345), CUDA_SUCCESS);
  CHECK_EQUAL(base, address);
  CHECK_EQUAL(bytes, before);
  CHECK_EQUAL(cuMemFree_v2(address + 512), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(cuMemFree_v2(address), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);

  std::vector<CUdeviceptr> blocks(20000);
  for (CUdeviceptr& block : blocks) CHECK_EQUAL(cuMemAlloc_v2(&block, 3 * kMiB), CUDA_SUCCESS);
  CHECK_EQUAL(before - free_bytes(), blocks.size() * 3 * kMiB);
  for (size_t i = 0; i < blocks.size(); i += 2) cuMemFree_v2(blocks[i]);
  for (size_t i = 1; i < blocks.size(); i += 2) cuMemFree_v2(blocks[i]);
  CHECK_EQUAL(free_bytes(), before);

  void* host = nullptr;
  unsigned flags = 0;
  unsigned type = 0;
  CHECK_EQUAL(cuMemHostAlloc(&host, 100, CU_MEMHOSTALLOC_DEVICEMAP), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemHostGetFlags(&flags, host), CUDA_SUCCESS);
  CHECK_EQUAL(flags, CU_MEMHOSTALLOC_DEVICEMAP);
  CHECK_EQUAL(cuMemHostGetDevicePointer_v2(&address, host, 0), CUDA_SUCCESS);
  CHECK_EQUAL(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address), CUDA_SUCCESS);
  int ordinal = -1;
  unsigned same = 0;
  CUpointer_attribute both[] = {CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
  void* values[] = {&ordinal, &same};
  CHECK_EQUAL(cuPointerGetAttributes(2, both, values, address), CUDA_SUCCESS);
  CHECK_EQUAL(ordinal, 0);
  CHECK_EQUAL(same, type);
  CHECK_EQUAL(cuPointerGetAttributes(0, both, values, address), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(type, unsigned(CU_MEMORYTYPE_HOST));
  CHECK_EQUAL(free_bytes(), before);
  CHECK_EQUAL(cuMemFreeHost(host), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
  size_t pitch = 0;
  CHECK_EQUAL(cuMemAllocPitch_v2(&address, &pitch, 1000, 10, 4), CUDA_SUCCESS);
  CHECK_EQUAL(pitch, size_t{1024});
  CHECK_EQUAL(cuMemAllocManaged(&another, 5 * kMiB, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  CHECK_EQUAL(before - free_bytes(), 5 * kMiB + 10240);
  CHECK_EQUAL(cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
  nvmlMemory_v2_t info = {};
  info.version = nvmlMemory_v2;
  CHECK_EQUAL(nvmlDeviceGetMemoryInfo_v2(nvmlDevice(), &info), NVML_SUCCESS);
  CHECK_EQUAL(info.used, 0ULL);
  CHECK_EQUAL(info.reserved, 2ULL * kMiB);
}

void pool() {
  enter_primary();
  CUmemoryPool pool = nullptr;
  CHECK_EQUAL(cuDeviceGetDefaultMemPool(&pool, 0), CUDA_SUCCESS);
  const size_t before = free_bytes();
  CUdeviceptr address = 0;
  unsigned long long value = 0;
  CHECK_EQUAL(cuMemAllocAsync(&address, 40 * kMiB, nullptr), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value), CUDA_SUCCESS);
  CHECK_EQUAL(value, 40ULL * kMiB);
  CHECK_EQUAL(before - free_bytes(), 64 * kMiB);
  CHECK_EQUAL(cuMemsetD8Async(address, 3, kMiB, nullptr), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemFreeAsync(address, nullptr), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemFreeAsync(address, nullptr), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(before - free_bytes(), 64 * kMiB);
  CHECK_EQUAL(cuCtxSynchronize(), CUDA_SUCCESS);
  CHECK_EQUAL(free_bytes(), before);
  value = ~0ULL;
  CHECK_EQUAL(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemAllocAsync(&address, kMiB, nullptr), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemFreeAsync(address, nullptr), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxSynchronize(), CUDA_SUCCESS);
  CHECK_EQUAL(before - free_bytes(), 32 * kMiB);
  CHECK_EQUAL(cuMemPoolTrimTo(pool, 0), CUDA_SUCCESS);
  CHECK_EQUAL(free_bytes(), before);
}

void virtual_memory() {
  enter_primary();
  const size_t before = free_bytes();
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  size_t granularity = 0;
  CHECK_EQUAL(cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM), CUDA_SUCCESS);
  CHECK_EQUAL(granularity, 2 * kMiB);
  CUdeviceptr address = 0;
  CUmemGenericAllocationHandle handle = 0;
  CHECK_EQUAL(cuMemAddressReserve(&address, 2 * granularity, 0, 0, 0), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemCreate(&handle, granularity + 1, &properties, 0), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(cuMemCreate(&handle, granularity, &properties, 0), CUDA_SUCCESS);
  CHECK_EQUAL(before - free_bytes(), granularity);
  CHECK_EQUAL(cuMemMap(address, granularity, 0, handle, 0), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemMap(address, granularity, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(cuMemMap(address + granularity, granularity, 0, handle, 0), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemsetD8_v2(address, 1, 1), CUDA_ERROR_INVALID_VALUE);
  const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CHECK_EQUAL(cuMemSetAccess(address, 2 * granularity, &access, 1), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemsetD8_v2(address, 0x5a, granularity), CUDA_SUCCESS);
  unsigned char alias = 0;
  CHECK_EQUAL(cuMemcpyDtoH_v2(&alias, address + granularity + 100, 1), CUDA_SUCCESS);
  CHECK_EQUAL(alias, 0x5a);
  CHECK_EQUAL(cuMemRelease(handle), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(before - free_bytes(), granularity);
  CHECK_EQUAL(cuMemAddressFree(address, 2 * granularity), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(cuMemUnmap(address, 2 * granularity), CUDA_SUCCESS);
  CHECK_EQUAL(free_bytes(), before);
  CHECK_EQUAL(cuMemAddressFree(address, 2 * granularity), CUDA_SUCCESS);
}

void sharing() {
  enter_primary();
  const size_t before = free_bytes();
  const int child = start_holder();
  nvmlProcessInfo_t infos[4] = {};
  unsigned count = 0;
  const nvmlDevice_t device = nvmlDevice();
  CHECK_EQUAL(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, nullptr), NVML_ERROR_INSUFFICIENT_SIZE);
  CHECK_EQUAL(count, 2u);
  count = 4;
  CHECK_EQUAL(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, infos), NVML_SUCCESS);
  for (unsigned i = 0; i < count; ++i) {
    const bool own = infos[i].pid == unsigned(getpid());
    CHECK(own || infos[i].pid == unsigned(child));
    CHECK_EQUAL(infos[i].usedGpuMemory, (own ? 500ULL : 1500ULL) * kMiB);
  }
  CUdeviceptr address = 0;
  CHECK_EQUAL(cuMemAlloc_v2(&address, free_bytes() + 1), CUDA_ERROR_OUT_OF_MEMORY);
  nvmlMemory_t memory = {};
  CHECK_EQUAL(nvmlDeviceGetMemoryInfo(device, &memory), NVML_SUCCESS);
  CHECK_EQUAL(memory.free, free_bytes());
  kill(child, SIGTERM);
  waitpid(child, nullptr, 0);
  CHECK_EQUAL(free_bytes(), before);
}

void killed() {
  enter_primary();
  const size_t before = free_bytes();
  const int child = start_holder();
  kill(child, SIGKILL);
  // A zombie has already given everything back.
  for (int i = 0; i < 40000 && free_bytes() != before; ++i) usleep(1000);
  CHECK_EQUAL(free_bytes(), before);
  waitpid(child, nullptr, 0);
  const int again = start_holder();
  kill(again, SIGKILL);
  waitpid(again, nullptr, 0);
  CUdeviceptr address = 0;
  CHECK_EQUAL(cuMemAlloc_v2(&address, before), CUDA_SUCCESS);
  const int last = start_part("holdMemory", kFast, own_region() + "x");
  usleep(300000);
  kill(last, SIGKILL);
  waitpid(last, nullptr, 0);
  CHECK_EQUAL(run_part("ptx", kFast, own_region() + "y"), 0);
  CHECK(access(("/dev/shm/gvb-sim-" + std::to_string(getuid()) + "-" + own_region() + "x").c_str(), F_OK) != 0);
}

void forked() {
  enter_primary();
  CUdeviceptr address = 0;
  CHECK_EQUAL(cuMemAlloc_v2(&address, 100 * kMiB), CUDA_SUCCESS);
  const size_t before = free_bytes();
  const int child = fork();
  if (child == 0) {
    size_t free = 0;
    size_t total = 0;
    const bool refused =
        cuMemGetInfo_v2(&free, &total) == CUDA_ERROR_NOT_INITIALIZED && cuInit(0) == CUDA_ERROR_NOT_INITIALIZED;
    std::exit(refused ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK_EQUAL(status, 0);
  CHECK_EQUAL(free_bytes(), before);
  CHECK_EQUAL(cuMemFree_v2(address), CUDA_SUCCESS);
}

}  // namespace test
