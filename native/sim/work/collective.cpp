#include "sim/work/collective.h"

#include "sim/memory/address_space.h"
#include "sim/work/context.h"

extern "C" {
__attribute__((visibility("default"))) int gvbSimJoinCollectives();
__attribute__((visibility("default"))) gvb::abi::CUresult gvbSimEndOfStream(gvb::abi::CUstream handle, int64_t* end);
__attribute__((visibility("default"))) gvb::abi::CUresult gvbSimSubmitCollective(
    gvb::abi::CUstream handle, const gvb::sim::CollectiveWork* collective);
}

namespace gvb::sim {
namespace {

struct FoundStream {
  Stream* stream;
  abi::CUresult code;
};

FoundStream find_stream(abi::CUstream handle) {
  const auto [context, code] = current_context();
  if (code != abi::CUDA_SUCCESS) return {nullptr, code};
  Stream* stream = stream_of(context, handle);
  if (stream == nullptr) return {nullptr, abi::CUDA_ERROR_INVALID_HANDLE};
  return {stream, stream->capture == nullptr ? abi::CUDA_SUCCESS : abi::CUDA_ERROR_NOT_SUPPORTED};
}

}  // namespace
}  // namespace gvb::sim

int gvbSimJoinCollectives() {
  const auto [context, code] = gvb::sim::current_context();
  if (code != gvb::abi::CUDA_SUCCESS) return -1;
  context->in_host_time.store(true);
  return context->device;
}

gvb::abi::CUresult gvbSimEndOfStream(gvb::abi::CUstream handle, int64_t* end) {
  const auto [stream, code] = gvb::sim::find_stream(handle);
  if (code != gvb::abi::CUDA_SUCCESS) return code;
  gvb::sim::Points points;
  {
    const std::lock_guard<std::mutex> lock(stream->context->mutex);
    if (stream->last.items != 0) points.push_back(stream->last);
  }
  stream->context->card->wait_for(points);
  stream->context->queue->collect();
  *end = stream->tail->load();
  return stream->context->fault();
}

gvb::abi::CUresult gvbSimSubmitCollective(gvb::abi::CUstream handle, const gvb::sim::CollectiveWork* collective) {
  using namespace gvb::sim;
  const auto [stream, code] = find_stream(handle);
  if (code != gvb::abi::CUDA_SUCCESS) return code;
  const auto from = reinterpret_cast<uint64_t>(collective->from), to = reinterpret_cast<uint64_t>(collective->to);
  const bool sends = collective->from_bytes > 0;
  if ((sends && !is_accessible(from, collective->from_bytes)) || !is_accessible(to, collective->to_bytes))
    return gvb::abi::CUDA_ERROR_INVALID_VALUE;
  Submission submission;
  submission.item.not_before = collective->not_before;
  submission.item.alone_ns = collective->nanoseconds;
  submission.item.demand = demand_of(kLinkOut);
  submission.item.demand[kLinkIn] = 1;
  if (sends) submission.work.reads = {range_of(from, collective->from_bytes)};
  submission.work.writes = {range_of(to, collective->to_bytes)};
  const std::shared_ptr<void> state(collective->state, collective->drop);
  submission.work.run = [run = collective->run, state](const Placement&) { run(state.get()); };
  submission.work.placed = [placed = collective->placed, state](const Placement& placement) {
    placed(state.get(), placement.start, placement.end);
  };
  const std::lock_guard<std::mutex> lock(stream->context->mutex);
  submit(stream, std::move(submission));
  return gvb::abi::CUDA_SUCCESS;
}
