// Virtual memory management, cuMemCreate and the calls after it, as expandable segments, llama.cpp and NCCL use it.
#include <string>
#include <thread>

#include "probe/probe.h"

namespace gvb::probe {
namespace {

using abi::CUmemGenericAllocationHandle;

abi::CUmemAllocationProp pinned(CUmemLocation location) {
  abi::CUmemAllocationProp properties{};
  properties.type = abi::CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = location;
  return properties;
}

CUmemAccessDesc for_device(const Run& run) {
  return {{abi::CU_MEM_LOCATION_TYPE_DEVICE, run.device}, abi::CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
}

// Reserves addresses, maps `pages` allocations next to each other, writes and reads them, and frees everything.
void map_pages(Run& run, CUmemLocation location, size_t pages) {
  const abi::CUmemAllocationProp properties = pinned(location);
  const CUmemAccessDesc access = for_device(run);
  size_t page = 0;
  CUdeviceptr at = 0;
  // The device's granularity: every kind of memory is mapped into its address space.
  const abi::CUmemAllocationProp on_device = pinned(access.location);
  run.need(cuda::cuMemGetAllocationGranularity, &page, &on_device, abi::CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  CUmemGenericAllocationHandle handle = 0;
  const int code = run.call(cuda::cuMemCreate, &handle, page, &properties, 0);
  // A program that tries another location accepts a refusal; it must be the same one as natively.
  if (code != abi::CUDA_SUCCESS && location.type != abi::CU_MEM_LOCATION_TYPE_DEVICE) return;
  if (code != abi::CUDA_SUCCESS) Run::fail("cuMemCreate", code);
  run.need(cuda::cuMemAddressReserve, &at, page * pages, 0, 0, 0);
  for (size_t i = 0; i < pages; ++i) {
    if (i > 0) run.need(cuda::cuMemCreate, &handle, page, &properties, 0);
    run.need(cuda::cuMemMap, at + i * page, page, 0, handle, 0);
    run.need(cuda::cuMemSetAccess, at + i * page, page, &access, 1);
    run.need(cuda::cuMemRelease, handle);
  }
  if (run.context) {
    for (size_t i = 0; i < pages; ++i) run.fill(at + i * page, page, static_cast<unsigned char>(i + 1));
    for (size_t i = 0; i < pages; ++i)
      run.check("page " + std::to_string(i), at + i * page, page, static_cast<unsigned char>(i + 1));
  }
  for (size_t i = 0; i < pages; ++i) run.need(cuda::cuMemUnmap, at + i * page, page);
  run.need(cuda::cuMemAddressFree, at, page * pages);
}

void on_device(Run& run) {
  run.enter();
  map_pages(run, {abi::CU_MEM_LOCATION_TYPE_DEVICE, run.device}, 1);
}

void on_host(Run& run) {
  run.enter();
  map_pages(run, {abi::CU_MEM_LOCATION_TYPE_HOST, 0}, 1);
  run.use_memory("memory afterwards");
}

void on_host_numa(Run& run) {
  run.enter();
  int node = -1;
  run.need(cuda::cuDeviceGetAttribute, &node, abi::CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, run.device);
  map_pages(run, {abi::CU_MEM_LOCATION_TYPE_HOST_NUMA, node < 0 ? 0 : node}, 1);
  run.use_memory("memory afterwards");
}

void expandable_segment(Run& run) {
  run.enter();
  map_pages(run, {abi::CU_MEM_LOCATION_TYPE_DEVICE, run.device}, 16);
}

// Like a pool thread that loads weights: the driver needs no context there.
void map_without_context(Run& run) {
  run.enter();
  const abi::CUcontext context = run.context;
  std::string over;
  std::thread([&] {
    try {
      run.context = nullptr;
      map_pages(run, {abi::CU_MEM_LOCATION_TYPE_DEVICE, run.device}, 2);
    } catch (const Over& reason) {
      over = reason.what();
    }
  }).join();
  run.context = context;
  if (!over.empty()) throw Over(over);
}

}  // namespace

Probes vmm_probes() {
  return {
      {"VMM, device memory", "HAMi#1764", on_device},
      {"VMM, host memory", "HAMi-core#187", on_host},
      {"VMM, host NUMA memory", "HAMi#1853", on_host_numa},
      {"VMM, one reservation and many pages", "HAMi-core#169", expandable_segment},
      {"VMM, thread without a context", "HAMi-core#172", map_without_context},
  };
}

}  // namespace gvb::probe
