#include "bench/held_memory.h"

#include <algorithm>

#include "bench/gpu_state.h"

namespace gvb {

using abi::CUDA_SUCCESS;
using abi::CUresult;

void note_refused(std::vector<Refusal>& refusals, const Cuda& cuda, CUresult code, const char* call, uint64_t bytes) {
  for (Refusal& known : refusals)
    if (known.code == code && known.call == call) {
      known.bytes = std::min(known.bytes, bytes);
      return;
    }
  refusals.push_back({code, cuda.error_name(code), call, bytes});
}

bool is_sticky(CUresult code) { return code >= 700 && code < 720 && code != 704 && code != 705 && code != 708; }

uint64_t card_free(const DeviceSession& session) {
  const auto truth = read_gpu_state(session.driver.nvml.api, session.nvml_device, GpuDetail::kReadings).free_bytes;
  return truth ? *truth : visible_memory(session).free_bytes.value_or(0);
}

FillBatch& HeldMemory::begin(std::unique_ptr<PathAllocator> path) {
  batches_.push_back(std::make_unique<FillBatch>(std::move(path)));
  return *batches_.back();
}

CUresult HeldMemory::take(FillBatch& batch, size_t bytes, std::string& no_memory) {
  PathBlock block;
  block.bytes = bytes;
  PathAllocator& path = *batch.path;
  const CUresult code = path.allocate(block);
  if (code != CUDA_SUCCESS) return code;
  batch.blocks.push_back({block, next_word()});
  const CUresult written = path.write(block, batch.blocks.back().word);
  if (written != CUDA_SUCCESS)
    no_memory = "a granted block of " + std::to_string(bytes) + " bytes cannot be written: " + path.failed_call +
                " returned " + cuda_.error_name(written);
  return CUDA_SUCCESS;
}

std::string HeldMemory::look_at_all() const {
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

MemoryReleased HeldMemory::release() {
  MemoryReleased released;
  for (; !batches_.empty(); batches_.pop_back()) {
    FillBatch& batch = *batches_.back();
    if (!released.again && !batch.blocks.empty()) released.again = allocate_again(batch, released);
    for (; !batch.blocks.empty(); batch.blocks.pop_back()) release_last(batch, released);
    batch.path->finish();
  }
  return released;
}

void HeldMemory::release_last(FillBatch& batch, MemoryReleased& released) const {
  const PathBlock& block = batch.blocks.back().block;
  const CUresult code = batch.path->release(block);
  if (code != CUDA_SUCCESS) note_refused(released.failures, cuda_, code, batch.path->failed_call, block.bytes);
  ++released.blocks;
}

CUresult HeldMemory::allocate_again(FillBatch& batch, MemoryReleased& released) const {
  PathBlock again;
  again.bytes = batch.blocks.back().block.bytes;
  release_last(batch, released);
  batch.blocks.pop_back();
  batch.path->finish();
  const CUresult code = batch.path->allocate(again);
  if (code == CUDA_SUCCESS) batch.blocks.push_back({again, 0});
  return code;
}

}  // namespace gvb
