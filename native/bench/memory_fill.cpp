#include "bench/memory_fill.h"

#include <algorithm>

#include "base/clock.h"
#include "base/text.h"
#include "bench/gpu_state.h"
#include "bench/held_memory.h"
#include "bench/ipc_handle.h"

namespace gvb {

using abi::CUDA_SUCCESS;
using abi::CUresult;

namespace {

class Filler {
 public:
  Filler(DeviceSession& session, const MemoryFillRequest& request, FillBatch& batch, HeldMemory& held)
      : session_(session), request_(request), batch_(batch), held_(held), sizes_(batch.path->sizes()) {}

  MemoryFill run() {
    const int64_t began = now_ns();
    most_ = std::min(request_.most_bytes, room());
    size_t size = in_steps(std::min(request_.first_bytes, sizes_.largest));
    const size_t smallest = std::max(sizes_.step, in_steps(request_.smallest_bytes));
    while (size >= smallest && fill_.no_memory.empty()) {
      session_.token.check();
      size = std::min(size, in_steps(most_ - fill_.granted_bytes));
      if (size < smallest) {
        fill_.end = most_ < request_.most_bytes ? FillEnd::kSpare : FillEnd::kEnough;
        break;
      }
      if (fill_.blocks == request_.most_blocks) {
        fill_.end = FillEnd::kBlocks;
        break;
      }
      const CUresult code = take(size);
      if (is_sticky(code)) break;
      if (code != CUDA_SUCCESS) size = in_steps(size / 2);
    }
    if (fill_.no_memory.empty()) fill_.no_memory = held_.look_at_all();
    fill_.took_ns = static_cast<double>(now_ns() - began);
    return fill_;
  }

 private:
  // What may be taken so that so much stays free; with nothing to spare, the driver may refuse.
  uint64_t room() const {
    if (request_.spare_bytes == 0) return request_.most_bytes;
    const uint64_t free = card_free(session_);
    return free > request_.spare_bytes ? free - request_.spare_bytes : 0;
  }
  size_t in_steps(uint64_t bytes) const { return bytes / sizes_.step * sizes_.step; }

  CUresult take(size_t bytes) {
    const CUresult code = held_.take(batch_, bytes, fill_.no_memory);
    if (code != CUDA_SUCCESS) {
      note_refused(fill_.refusals, session_.cuda, code, batch_.path->failed_call, bytes);
      return code;
    }
    ++fill_.blocks;
    fill_.granted_bytes += bytes;
    return CUDA_SUCCESS;
  }

  DeviceSession& session_;
  const MemoryFillRequest& request_;
  FillBatch& batch_;
  HeldMemory& held_;
  const PathSizes sizes_;
  uint64_t most_ = 0;
  MemoryFill fill_;
};

constexpr unsigned kEnoughGranted = 8;
// Enough for an interval of their median.
constexpr unsigned kLeastRefusals = 20;

}  // namespace

MemoryFill fill_memory(DeviceSession& session, const MemoryFillRequest& request) {
  auto path = make_path(session, request.path);
  HeldMemory& held = session.kept<HeldMemory>();
  return Filler(session, request, held.begin(std::move(path)), held).run();
}

MemoryReleased release_memory(DeviceSession& session) { return session.kept<HeldMemory>().release(); }

Refusals time_refusals(DeviceSession& session, const RefusalsRequest& request) {
  const auto path = make_path(session, request.path);
  Refusals refusals;
  // Stops once several were granted: the limit evidently does not hold.
  const int64_t began = now_ns();
  for (unsigned i = 0; i < request.count && refusals.granted < kEnoughGranted; ++i) {
    session.token.check();
    if (i >= kLeastRefusals && static_cast<uint64_t>(now_ns() - began) > request.most_ns) break;
    PathBlock block;
    block.bytes = request.bytes;
    const int64_t before = now_ns();
    const CUresult code = path->allocate(block);
    const int64_t after = now_ns();
    if (code == CUDA_SUCCESS) {
      ++refusals.granted;
      session.cuda.check(path->release(block), path->failed_call, "freeing what should have been refused");
      path->finish();
    } else if (code == abi::CUDA_ERROR_OUT_OF_MEMORY) {
      refusals.refused_ns.push_back(static_cast<double>(after - before));
    } else {
      const auto known = std::find_if(refusals.others.begin(), refusals.others.end(),
                                      [&](const OtherCode& other) { return other.code == code; });
      if (known != refusals.others.end())
        ++known->count;
      else
        refusals.others.push_back({code, session.cuda.error_name(code), 1});
    }
  }
  return refusals;
}

namespace {

// Memory of another process. Only its owner writes to it.
class Imported : public PathAllocator {
 public:
  using PathAllocator::PathAllocator;
  PathSizes sizes() const override { return {1, SIZE_MAX}; }
  CUresult allocate(PathBlock&) override { return abi::CUDA_ERROR_NOT_SUPPORTED; }
  CUresult open(PathBlock& block, const abi::CUipcMemHandle& handle) {
    CUresult code = CUDA_SUCCESS;
    abi::CUdeviceptr base = 0;
    GVB_NEXT(code, cuIpcOpenMemHandle_v2, &block.pointer, handle, abi::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    GVB_NEXT(code, cuMemGetAddressRange_v2, &base, &block.bytes, block.pointer);
    return code;
  }
  CUresult release(const PathBlock& block) override {
    CUresult code = CUDA_SUCCESS;
    GVB_NEXT(code, cuIpcCloseMemHandle, block.pointer);
    return code;
  }
};

}  // namespace

ExportedMemory export_memory(DeviceSession& session) {
  ExportedMemory exported;
  for (const auto& batch : session.kept<HeldMemory>().batches())
    for (const HeldBlock& held : batch->blocks) {
      abi::CUipcMemHandle handle{};
      GVB_CALL(session.cuda, "exporting device memory", cuIpcGetMemHandle, &handle, held.block.pointer);
      exported.handles += (exported.handles.empty() ? "" : ",") + ipc_handle_text(handle);
      exported.bytes += held.block.bytes;
    }
  return exported;
}

MemoryFill import_memory(DeviceSession& session, const ImportRequest& request) {
  MemoryFill fill;
  auto owned = std::make_unique<Imported>(session);
  Imported& path = *owned;
  HeldMemory& memory = session.kept<HeldMemory>();
  FillBatch& batch = memory.begin(std::move(owned));
  const int64_t began = now_ns();
  for (const std::string& text : split(request.handles, ',')) {
    session.token.check();
    PathBlock block;
    const CUresult code = path.open(block, ipc_handle(text));
    if (code != CUDA_SUCCESS) {
      note_refused(fill.refusals, session.cuda, code, path.failed_call, 0);
      continue;
    }
    batch.blocks.push_back({block, HeldMemory::word_of(batch.blocks.size())});
    fill.granted_bytes += block.bytes;
    ++fill.blocks;
  }
  fill.end = fill.refusals.empty() ? FillEnd::kEnough : FillEnd::kRefused;
  fill.no_memory = memory.look_at_all();
  fill.took_ns = static_cast<double>(now_ns() - began);
  return fill;
}

}  // namespace gvb
