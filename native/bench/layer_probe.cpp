#include "bench/layer_probe.h"

#include <dlfcn.h>

#include <set>

#include "bench/block_trace.h"
#include "driver/code_owner.h"

namespace gvb {

namespace {

// A symbol of the layer that owns cuMemAlloc on the measured path; nullptr if the driver itself owns it, or if another
// object happens to export that name.
void* layer_symbol(const DeviceSession& session, const char* name) {
  const DlsymFunction look_up = libc_dlsym();
  const std::string layer = owner_of(reinterpret_cast<void*>(session.cuda.api.cuMemAlloc_v2));
  if (!look_up || layer.empty() || layer == session.driver.driver_path) return nullptr;
  void* symbol = look_up(RTLD_DEFAULT, name);
  return owner_of(symbol) == layer ? symbol : nullptr;
}

// Two small blocks per multiprocessor of the card, which all run at a time wherever they may.
unsigned used_by_kernels(DeviceSession& session) {
  BlockTraceRequest request;
  request.spin_ns = 500'000;
  request.gap_ns = request.spin_ns;
  const auto whole = card_attribute(session, abi::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  request.blocks = 2 * static_cast<unsigned>(whole.value_or(0));
  const std::vector<unsigned> used = trace_blocks(session, request).multiprocessor;
  return static_cast<unsigned>(std::set<unsigned>(used.begin(), used.end()).size());
}

}  // namespace

LayerProbe probe_layer(DeviceSession& session, const LayerProbeRequest& request) {
  const Cuda& cuda = session.cuda;
  LayerProbe probe;
  size_t free_bytes = 0, total = 0;
  const auto info = cuda.require(cuda.api.cuMemGetInfo_v2, "cuMemGetInfo_v2");
  if (info(&free_bytes, &total) == abi::CUDA_SUCCESS) {
    probe.visible_total_bytes = total;
    probe.visible_free_bytes = free_bytes;
  }
  if (const auto* found = static_cast<const int*>(layer_symbol(session, "pidfound"))) probe.pid_found = *found != 0;
  if (void* limit = layer_symbol(session, "get_current_device_memory_limit"))
    probe.memory_limit_bytes = reinterpret_cast<uint64_t (*)(int)>(limit)(session.device);
  if (void* limit = layer_symbol(session, "get_current_device_sm_limit"))
    probe.sm_percent = reinterpret_cast<int (*)(int)>(limit)(session.device);
  if ((probe.partition_multiprocessors = session.context.multiprocessors()))
    probe.multiprocessors_used = used_by_kernels(session);
  const auto allocate = cuda.require(cuda.api.cuMemAlloc_v2, "cuMemAlloc_v2");
  const auto release = cuda.require(cuda.api.cuMemFree_v2, "cuMemFree_v2");
  for (const uint64_t bytes : request.allocations) {
    session.token.check();
    abi::CUdeviceptr pointer = 0;
    const abi::CUresult code = allocate(&pointer, bytes);
    if (code == abi::CUDA_SUCCESS) cuda.check(release(pointer), "cuMemFree_v2", "freeing a canary");
    probe.allocations.push_back({bytes, code});
  }
  return probe;
}

}  // namespace gvb
