#include "bench/memory_fill.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/clock.h"
#include "base/text.h"
#include "bench/gpu_state.h"
#include "bench/ipc_handle.h"

namespace gvb {

using abi::CUDA_SUCCESS;
using abi::CUresult;

namespace {

// The word of a process's n-th block: different words, so that two blocks that share memory cannot both hold their own.
unsigned word_of(size_t number) { return 0x9e3779b9u * static_cast<unsigned>(number + 1); }

struct HeldBlock {
  PathBlock block;
  unsigned word;
};

// The blocks of one call.
struct FillBatch {
  explicit FillBatch(std::unique_ptr<PathAllocator> way) : path(std::move(way)) {}
  std::unique_ptr<PathAllocator> path;
  std::vector<HeldBlock> blocks;
};

void note(std::vector<Refusal>& refusals, const Cuda& cuda, CUresult code, const char* call, uint64_t bytes) {
  for (Refusal& known : refusals)
    if (known.code == code && known.call == call) {
      known.bytes = std::min(known.bytes, bytes);
      return;
    }
  refusals.push_back({code, cuda.error_name(code), call, bytes});
}

class HeldMemory {
 public:
  explicit HeldMemory(DeviceSession& session) : cuda_(session.cuda) {}
  ~HeldMemory() { release(); }
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;

  FillBatch& begin(std::unique_ptr<PathAllocator> path) {
    batches_.push_back(std::make_unique<FillBatch>(std::move(path)));
    return *batches_.back();
  }
  unsigned next_word() { return word_of(made_++); }

  // Why a block is not memory of its own; empty if all are.
  std::string look_at_all() const {
    for (const auto& batch : batches_)
      for (const HeldBlock& held : batch->blocks) {
        CUresult code = CUDA_SUCCESS;
        if (batch->path->holds(held.block, held.word, code)) continue;
        const std::string what = "a granted block of " + std::to_string(held.block.bytes) + " bytes ";
        if (code == CUDA_SUCCESS) return what + "does not hold what was written to it";
        return what + "cannot be read: " + batch->path->failed_call + " returned " + cuda_.error_name(code);
      }
    return "";
  }

  MemoryReleased release() {
    MemoryReleased released;
    for (; !batches_.empty(); batches_.pop_back()) {
      FillBatch& batch = *batches_.back();
      if (!released.again && !batch.blocks.empty()) released.again = allocate_again(batch, released);
      for (; !batch.blocks.empty(); batch.blocks.pop_back()) release_last(batch, released);
      batch.path->finish();
    }
    return released;
  }

  const std::vector<std::unique_ptr<FillBatch>>& batches() const { return batches_; }

 private:
  void release_last(FillBatch& batch, MemoryReleased& released) const {
    const PathBlock& block = batch.blocks.back().block;
    const CUresult code = batch.path->release(block);
    if (code != CUDA_SUCCESS) note(released.failures, cuda_, code, batch.path->failed_call, block.bytes);
    ++released.blocks;
  }

  CUresult allocate_again(FillBatch& batch, MemoryReleased& released) const {
    PathBlock again;
    again.bytes = batch.blocks.back().block.bytes;
    release_last(batch, released);
    batch.blocks.pop_back();
    batch.path->finish();
    const CUresult code = batch.path->allocate(again);
    if (code == CUDA_SUCCESS) batch.blocks.push_back({again, 0});
    return code;
  }

  const Cuda& cuda_;
  std::vector<std::unique_ptr<FillBatch>> batches_;
  size_t made_ = 0;
};

// After such an error the context refuses everything.
bool is_sticky(CUresult code) { return code >= 700 && code < 720 && code != 704 && code != 705 && code != 708; }

uint64_t card_free(const DeviceSession& session) {
  const auto truth = read_gpu_state(session.driver.nvml.api, session.nvml_device, GpuDetail::kReadings).free_bytes;
  return truth ? *truth : visible_memory(session).free_bytes.value_or(0);
}

class Filling {
 public:
  Filling(DeviceSession& session, const MemoryFillRequest& request, FillBatch& batch, HeldMemory& held)
      : session_(session), request_(request), batch_(batch), held_(held), sizes_(batch.path->sizes()) {}

  MemoryFill run() {
    const int64_t began = now_ns();
    const uint64_t free = card_free(session_);
    const uint64_t room = free > request_.spare_bytes ? free - request_.spare_bytes : 0;
    most_ = std::min(request_.most_bytes, room);
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
  size_t in_steps(uint64_t bytes) const { return bytes / sizes_.step * sizes_.step; }

  CUresult take(size_t bytes) {
    PathBlock block;
    block.bytes = bytes;
    PathAllocator& path = *batch_.path;
    const CUresult code = path.allocate(block);
    if (code != CUDA_SUCCESS) {
      note(fill_.refusals, session_.cuda, code, path.failed_call, bytes);
      return code;
    }
    batch_.blocks.push_back({block, held_.next_word()});
    ++fill_.blocks;
    fill_.granted_bytes += bytes;
    const CUresult written = path.write(block, batch_.blocks.back().word);
    if (written != CUDA_SUCCESS)
      fill_.no_memory = "a granted block of " + std::to_string(bytes) +
                        " bytes cannot be written: " + path.failed_call + " returned " +
                        session_.cuda.error_name(written);
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
  return Filling(session, request, held.begin(std::move(path)), held).run();
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
      note(fill.refusals, session.cuda, code, path.failed_call, 0);
      continue;
    }
    batch.blocks.push_back({block, word_of(batch.blocks.size())});
    fill.granted_bytes += block.bytes;
    ++fill.blocks;
  }
  fill.end = fill.refusals.empty() ? FillEnd::kEnough : FillEnd::kRefused;
  fill.no_memory = memory.look_at_all();
  fill.took_ns = static_cast<double>(now_ns() - began);
  return fill;
}

}  // namespace gvb
