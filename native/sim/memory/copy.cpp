#include <algorithm>
#include <cstring>

#include "sim/exports.h"
#include "sim/memory/address_space.h"
#include "sim/settings.h"
#include "sim/work/context.h"

namespace gvb::sim {
namespace {

// The host waits for copies it takes part in, but not for fills.
enum class Wait { kNo, kYes };

bool on_host(uint64_t address) {
  const auto block = find_block(address);
  return !block || block->kind == BlockKind::kHost;
}

int card_of(uint64_t address) { return find_block(address)->device; }

struct Transfer {
  double nanoseconds;
  Demand demand;
};

// Over the bus: one copy engine per direction, which also reads or writes the card's memory. On the card: reads and
// writes its memory. Between cards: loads the link of the stream's card only.
Transfer transfer(int device, uint64_t to, uint64_t from, size_t bytes) {
  const CardSettings& card = card_settings(device);
  const auto size = static_cast<double>(bytes);
  if (!on_host(to) && !on_host(from)) {
    if (card_of(to) == card_of(from)) return {2 * size / card.dram_gbs, demand_of(kDram)};
    Demand demand = demand_of(card_of(from) == device ? kLinkOut : kLinkIn);
    demand[kDram] = std::min(1.0, card.link_gbs / card.dram_gbs);
    return {size / card.link_gbs, demand};
  }
  Demand demand = demand_of(on_host(from) ? kCopyIn : kCopyOut);
  demand[kDram] = std::min(1.0, card.pcie_gbs / card.dram_gbs);
  return {size / card.pcie_gbs, demand};
}

abi::CUresult copy(Context* context, Stream* stream, uint64_t to, uint64_t from, size_t bytes, Wait wait) {
  if (bytes == 0) return abi::CUDA_SUCCESS;
  const Transfer how = transfer(context->device, to, from, bytes);
  Work work;
  work.reads = {range_of(from, bytes)};
  work.writes = {range_of(to, bytes)};
  // The host may change the source as soon as it knows that the copy is over.
  work.seen = on_host(from) || is_visible_to_host(to) ? Seen::kWhenOver : Seen::kLater;
  work.run = [=](const Placement&) {
    std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  };
  enqueue(stream, how.nanoseconds, how.demand, std::move(work));
  return wait == Wait::kYes ? synchronise(context, stream) : abi::CUDA_SUCCESS;
}

abi::CUresult copy_h_to_d(Context* context, Stream* stream, uint64_t to, const void* from, size_t bytes, Wait wait) {
  if (!is_accessible(to, bytes) || (from == nullptr && bytes != 0)) return abi::CUDA_ERROR_INVALID_VALUE;
  return copy(context, stream, to, reinterpret_cast<uint64_t>(from), bytes, wait);
}

abi::CUresult copy_d_to_h(Context* context, Stream* stream, void* to, uint64_t from, size_t bytes, Wait wait) {
  if (!is_accessible(from, bytes) || (to == nullptr && bytes != 0)) return abi::CUDA_ERROR_INVALID_VALUE;
  return copy(context, stream, reinterpret_cast<uint64_t>(to), from, bytes, wait);
}

abi::CUresult copy_d_to_d(Context* context, Stream* stream, uint64_t to, uint64_t from, size_t bytes) {
  if (!is_accessible(to, bytes) || !is_accessible(from, bytes)) return abi::CUDA_ERROR_INVALID_VALUE;
  return copy(context, stream, to, from, bytes, Wait::kNo);
}

abi::CUresult fill(Stream* stream, uint64_t to, size_t bytes, std::function<void(const Placement&)> run) {
  if (!is_accessible(to, bytes)) return abi::CUDA_ERROR_INVALID_VALUE;
  if (bytes == 0) return abi::CUDA_SUCCESS;
  Work work;
  work.writes = {range_of(to, bytes)};
  work.seen = is_visible_to_host(to) ? Seen::kWhenOver : Seen::kLater;
  work.run = std::move(run);
  const double nanoseconds = static_cast<double>(bytes) / card_settings(stream->context->device).dram_gbs;
  enqueue(stream, nanoseconds, demand_of(kDram), std::move(work));
  return abi::CUDA_SUCCESS;
}

abi::CUresult fill8(Stream* stream, uint64_t to, unsigned char value, size_t count) {
  return fill(stream, to, count, [=](const Placement&) {
    if (value == 0)
      fill_zero(to, count);
    else
      std::memset(reinterpret_cast<void*>(to), value, count);
  });
}

abi::CUresult fill32(Stream* stream, uint64_t to, unsigned value, size_t count) {
  if (to % 4 != 0 || count > SIZE_MAX / 4) return abi::CUDA_ERROR_INVALID_VALUE;
  return fill(stream, to, count * 4, [=](const Placement&) {
    auto* words = reinterpret_cast<unsigned*>(to);
    if (value == 0)
      fill_zero(to, count * 4);
    else
      for (size_t i = 0; i < count; ++i) words[i] = value;
  });
}

// The driver stages pageable memory, so the caller may reuse it at once; pinned memory is read later.
Wait unless_pinned(const void* host, size_t bytes) {
  return is_accessible(reinterpret_cast<uint64_t>(host), bytes) ? Wait::kNo : Wait::kYes;
}

}  // namespace
}  // namespace gvb::sim

namespace gvb::abi {

using sim::Wait;

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  GVB_SIM_ENTER_CONTEXT(cuMemcpyHtoD_v2);
  return sim::copy_h_to_d(context, &context->default_stream, to, from, bytes, Wait::kYes);
}

CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  GVB_SIM_ENTER_CONTEXT(cuMemcpyDtoH_v2);
  return sim::copy_d_to_h(context, &context->default_stream, to, from, bytes, Wait::kYes);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  GVB_SIM_ENTER_CONTEXT(cuMemcpyDtoD_v2);
  return sim::copy_d_to_d(context, &context->default_stream, to, from, bytes);
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  GVB_SIM_ENTER_CONTEXT(cuMemcpy);
  return sim::copy(context, &context->default_stream, to, from, bytes, Wait::kYes);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream_handle) {
  GVB_SIM_ENTER_STREAM(cuMemcpyAsync, stream_handle);
  const bool registered = sim::is_accessible(to, bytes) && sim::is_accessible(from, bytes);
  return sim::copy(context, stream, to, from, bytes, registered ? Wait::kNo : Wait::kYes);
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes) {
  GVB_SIM_ENTER_CONTEXT(cuMemcpyPeer);
  return sim::copy_d_to_d(context, &context->default_stream, to, from, bytes);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes,
                           CUstream stream_handle) {
  GVB_SIM_ENTER_STREAM(cuMemcpyPeerAsync, stream_handle);
  return sim::copy_d_to_d(context, stream, to, from, bytes);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream_handle) {
  GVB_SIM_ENTER_STREAM(cuMemcpyHtoDAsync_v2, stream_handle);
  return sim::copy_h_to_d(context, stream, to, from, bytes, sim::unless_pinned(from, bytes));
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream_handle) {
  GVB_SIM_ENTER_STREAM(cuMemcpyDtoHAsync_v2, stream_handle);
  return sim::copy_d_to_h(context, stream, to, from, bytes, sim::unless_pinned(to, bytes));
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream_handle) {
  GVB_SIM_ENTER_STREAM(cuMemcpyDtoDAsync_v2, stream_handle);
  return sim::copy_d_to_d(context, stream, to, from, bytes);
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  GVB_SIM_ENTER_CONTEXT(cuMemsetD8_v2);
  return sim::fill8(&context->default_stream, to, value, count);
}

CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
  GVB_SIM_ENTER_CONTEXT(cuMemsetD32_v2);
  return sim::fill32(&context->default_stream, to, value, count);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream_handle) {
  GVB_SIM_ENTER_STREAM(cuMemsetD8Async, stream_handle);
  return sim::fill8(stream, to, value, count);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream_handle) {
  GVB_SIM_ENTER_STREAM(cuMemsetD32Async, stream_handle);
  return sim::fill32(stream, to, value, count);
}

}  // namespace gvb::abi
