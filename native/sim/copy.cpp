#include <cstring>

#include "sim/address_space.h"
#include "sim/context.h"
#include "sim/exports.h"
#include "sim/settings.h"

namespace gvb::sim {
namespace {

// Fills are not waited for by the host, copies the host takes part in are.
enum class Wait { kNo, kYes };

bool onHost(uint64_t address) {
  const auto block = findBlock(address);
  return !block || block->kind == BlockKind::kHost;
}

double copyTime(uint64_t to, uint64_t from, size_t bytes) {
  const bool overBus = onHost(to) || onHost(from);
  return overBus ? static_cast<double>(bytes) / settings().pcie_gbs
                 : 2 * static_cast<double>(bytes) / settings().dram_gbs;
}

abi::CUresult copy(Context* context, Stream* stream, uint64_t to, uint64_t from, size_t bytes, Wait wait) {
  if (bytes == 0) return abi::CUDA_SUCCESS;
  enqueue(stream, copyTime(to, from, bytes),
          [=] { std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes); });
  return wait == Wait::kYes ? synchronise(context, stream) : abi::CUDA_SUCCESS;
}

abi::CUresult copyHtoD(Context* context, Stream* stream, uint64_t to, const void* from, size_t bytes, Wait wait) {
  if (!isAccessible(to, bytes) || (from == nullptr && bytes != 0)) return abi::CUDA_ERROR_INVALID_VALUE;
  return copy(context, stream, to, reinterpret_cast<uint64_t>(from), bytes, wait);
}

abi::CUresult copyDtoH(Context* context, Stream* stream, void* to, uint64_t from, size_t bytes, Wait wait) {
  if (!isAccessible(from, bytes) || (to == nullptr && bytes != 0)) return abi::CUDA_ERROR_INVALID_VALUE;
  return copy(context, stream, reinterpret_cast<uint64_t>(to), from, bytes, wait);
}

abi::CUresult copyDtoD(Context* context, Stream* stream, uint64_t to, uint64_t from, size_t bytes) {
  if (!isAccessible(to, bytes) || !isAccessible(from, bytes)) return abi::CUDA_ERROR_INVALID_VALUE;
  return copy(context, stream, to, from, bytes, Wait::kNo);
}

abi::CUresult fill(Stream* stream, uint64_t to, size_t bytes, std::function<void()> run) {
  if (!isAccessible(to, bytes)) return abi::CUDA_ERROR_INVALID_VALUE;
  if (bytes != 0) enqueue(stream, static_cast<double>(bytes) / settings().dram_gbs, std::move(run));
  return abi::CUDA_SUCCESS;
}

abi::CUresult fill8(Stream* stream, uint64_t to, unsigned char value, size_t count) {
  return fill(stream, to, count, [=] {
    if (value == 0)
      fillZero(to, count);
    else
      std::memset(reinterpret_cast<void*>(to), value, count);
  });
}

abi::CUresult fill32(Stream* stream, uint64_t to, unsigned value, size_t count) {
  if (to % 4 != 0 || count > SIZE_MAX / 4) return abi::CUDA_ERROR_INVALID_VALUE;
  return fill(stream, to, count * 4, [=] {
    auto* words = reinterpret_cast<unsigned*>(to);
    if (value == 0)
      fillZero(to, count * 4);
    else
      for (size_t i = 0; i < count; ++i) words[i] = value;
  });
}

// The driver stages pageable memory, so the caller may reuse it at once; pinned memory is read later.
Wait unlessPinned(const void* host, size_t bytes) {
  return isAccessible(reinterpret_cast<uint64_t>(host), bytes) ? Wait::kNo : Wait::kYes;
}

}  // namespace
}  // namespace gvb::sim

namespace gvb::abi {

using sim::Wait;

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  GVB_SIM_ENTER_CONTEXT(cuMemcpyHtoD_v2);
  return sim::copyHtoD(context, &context->defaultStream, to, from, bytes, Wait::kYes);
}

CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  GVB_SIM_ENTER_CONTEXT(cuMemcpyDtoH_v2);
  return sim::copyDtoH(context, &context->defaultStream, to, from, bytes, Wait::kYes);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  GVB_SIM_ENTER_CONTEXT(cuMemcpyDtoD_v2);
  return sim::copyDtoD(context, &context->defaultStream, to, from, bytes);
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  GVB_SIM_ENTER_CONTEXT(cuMemcpy);
  return sim::copy(context, &context->defaultStream, to, from, bytes, Wait::kYes);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream streamHandle) {
  GVB_SIM_ENTER_STREAM(cuMemcpyAsync, streamHandle);
  const bool registered = sim::isAccessible(to, bytes) && sim::isAccessible(from, bytes);
  return sim::copy(context, stream, to, from, bytes, registered ? Wait::kNo : Wait::kYes);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream streamHandle) {
  GVB_SIM_ENTER_STREAM(cuMemcpyHtoDAsync_v2, streamHandle);
  return sim::copyHtoD(context, stream, to, from, bytes, sim::unlessPinned(from, bytes));
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream streamHandle) {
  GVB_SIM_ENTER_STREAM(cuMemcpyDtoHAsync_v2, streamHandle);
  return sim::copyDtoH(context, stream, to, from, bytes, sim::unlessPinned(to, bytes));
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream streamHandle) {
  GVB_SIM_ENTER_STREAM(cuMemcpyDtoDAsync_v2, streamHandle);
  return sim::copyDtoD(context, stream, to, from, bytes);
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  GVB_SIM_ENTER_CONTEXT(cuMemsetD8_v2);
  return sim::fill8(&context->defaultStream, to, value, count);
}

CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
  GVB_SIM_ENTER_CONTEXT(cuMemsetD32_v2);
  return sim::fill32(&context->defaultStream, to, value, count);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream streamHandle) {
  GVB_SIM_ENTER_STREAM(cuMemsetD8Async, streamHandle);
  return sim::fill8(stream, to, value, count);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream streamHandle) {
  GVB_SIM_ENTER_STREAM(cuMemsetD32Async, streamHandle);
  return sim::fill32(stream, to, value, count);
}

}  // namespace gvb::abi
