#include <algorithm>
#include <cstring>

#include "sim/exports.h"
#include "sim/memory/address_space.h"
#include "sim/memory/between_cards.h"
#include "sim/settings.h"
#include "sim/work/context.h"

namespace gvb::sim {
namespace {

// The host waits for copies it takes part in, but not for fills.
enum class Wait { kNo, kYes };

bool on_host(uint64_t address) {
  const auto block = find_block(address);
  return !block || is_of_host(block->kind);
}

int card_of(uint64_t address) { return find_block(address)->device; }

struct Transfer {
  double nanoseconds;
  Demand demand;
};

// Smaller copies are never falsified, because programs read the results of checks with them.
constexpr size_t kLeastLie = 4096;

bool between_cards(uint64_t to, uint64_t from) {
  return !on_host(to) && !on_host(from) && card_of(to) != card_of(from);
}

bool leaves_card(uint64_t to, uint64_t from) { return on_host(to) != on_host(from) || between_cards(to, from); }

bool is_untimed(const CardSettings& card, size_t bytes) { return card.copy_lazy != 0 && bytes >= kLeastLie; }

// The card itself copies pinned memory; the driver copies other memory through its own pinned pages.
Transfer over_bus(const CardSettings& card, uint64_t to, uint64_t from, size_t bytes) {
  const bool in = on_host(from);
  const double most = in ? gbs_to_card(card) : gbs_from_card(card);
  const bool staged = card.pageable_gbs > 0 && !is_accessible(in ? from : to, bytes);
  const double gbs = staged ? std::min(most, card.pageable_gbs) : most;
  Demand demand = demand_of(in ? kCopyIn : kCopyOut, gbs / most);
  if (card.copy_engines == 1) demand[kCopyEngine] = 1;
  demand[kDram] = std::min(1.0, gbs / card.dram_gbs);
  return {is_untimed(card, bytes) ? 0 : static_cast<double>(bytes) / gbs, demand};
}

// Over the bus by a copy engine of that direction, which reads or writes the card's memory too; on the card by reading
// and writing its memory; between cards over what connects them.
Transfer transfer(int device, uint64_t to, uint64_t from, size_t bytes) {
  const CardSettings& card = card_settings(device);
  const auto size = static_cast<double>(bytes);
  if (!on_host(to) && !on_host(from)) {
    if (card_of(to) == card_of(from)) return {2 * size / card.dram_gbs, demand_of(kDram)};
    const Way way = way_between(device, card_of(from), card_of(to));
    Demand demand = demand_of(way.resource, way.part);
    demand[kDram] = std::min(1.0, way.gbs / card.dram_gbs);
    return {is_untimed(card, bytes) ? 0 : size / way.gbs, demand};
  }
  return over_bus(card, to, from, bytes);
}

// What arrives, of a copy to or from a card that lies.
void move_bytes(const CardSettings& card, uint64_t to, uint64_t from, size_t bytes) {
  auto* const target = reinterpret_cast<char*>(to);
  const auto* const source = reinterpret_cast<const char*>(from);
  const bool lies = bytes >= kLeastLie && leaves_card(to, from);
  if (lies && card.copy_skip != 0) return;
  const size_t half = lies && card.copy_swap != 0 ? bytes / 2 : 0;
  std::memmove(target, source + half, bytes - half);
  std::memmove(target + (bytes - half), source, half);
}

abi::CUresult copy(Context* context, Stream* stream, uint64_t to, uint64_t from, size_t bytes, Wait wait) {
  if (bytes == 0) return abi::CUDA_SUCCESS;
  if (between_cards(to, from))
    for (const uint64_t address : {to, from}) open_to_other_cards(*find_block(address));
  const Transfer how = transfer(context->device, to, from, bytes);
  Work work;
  work.reads = {range_of(from, bytes)};
  work.writes = {range_of(to, bytes)};
  // The host may change the source as soon as it knows that the copy is over.
  work.seen = on_host(from) || is_visible_to_host(to) ? Seen::kWhenOver : Seen::kLater;
  work.run = [=, device = context->device](const Placement&) { move_bytes(card_settings(device), to, from, bytes); };
  RecordedCall::of_bytes(bytes);
  if (auto times = RecordedCall::of_device())
    work.placed = [times = std::move(times)](const Placement& placement) {
      times->add(placement.start, placement.end);
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
  sim::region().act(sim::Act::kCopy);
  return sim::copy_h_to_d(context, stream, to, from, bytes, sim::unless_pinned(from, bytes));
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream_handle) {
  GVB_SIM_ENTER_STREAM(cuMemcpyDtoHAsync_v2, stream_handle);
  return sim::copy_d_to_h(context, stream, to, from, bytes, sim::unless_pinned(to, bytes));
}

// Each copy is between any two places, like cuMemcpyAsync; the hints concern managed memory.
CUresult cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count, CUmemcpyAttributes*,
                            size_t*, size_t attributes, size_t* failed, CUstream stream_handle) {
  GVB_SIM_ENTER_STREAM(cuMemcpyBatchAsync, stream_handle);
  if (failed != nullptr) *failed = SIZE_MAX;
  if (to == nullptr || from == nullptr || sizes == nullptr || count == 0 || attributes == 0 || stream_handle == nullptr)
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    const bool registered = sim::is_accessible(to[i], sizes[i]) && sim::is_accessible(from[i], sizes[i]);
    const CUresult code = sim::copy(context, stream, to[i], from[i], sizes[i], registered ? Wait::kNo : Wait::kYes);
    if (code != CUDA_SUCCESS) {
      if (failed != nullptr) *failed = i;
      return code;
    }
  }
  return CUDA_SUCCESS;
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
