#include "bench/nccl/collectives.h"

#include "base/clock.h"
#include "bench/nccl/collective_data.h"
#include "bench/nccl/rank_meeting.h"

namespace gvb {

namespace {

constexpr double kBurstNsPerMs = 1e6;

class Bursts {
 public:
  Bursts(DeviceSession& session, const CollectivesRequest& request)
      : session_(session),
        cuda_(session.cuda),
        request_(request),
        ranks_(session.kept<Ranks>()),
        stream_(make_stream(cuda_)),
        began_(make_event(cuda_)),
        ended_(make_event(cuda_)),
        meeting_(session),
        data_(make_collective_data(session, request, stream_.get())) {}

  // A rank whose results are wrong goes on, because the others wait for it.
  CollectiveTimes run() {
    for (unsigned i = 0; i < request_.warmup + request_.bursts && out_.failure.empty(); ++i) {
      session_.token.check();
      data_->prepare(request_.seed + i);
      burst(i >= request_.warmup);
      if (!out_.failure.empty()) break;
      out_.words += data_->words();
      out_.wrong += data_->wrong_words();
    }
    return out_;
  }

 private:
  void burst(bool counts) {
    const CUstream stream = stream_.get();
    out_.failure = meeting_.meet(stream);
    if (!out_.failure.empty()) return;
    const int64_t began = now_ns();
    GVB_CALL(cuda_, "recording an event", cuEventRecord, began_.get(), stream);
    for (unsigned operation = 0; operation < request_.operations; ++operation) {
      out_.failure = data_->queue(ranks_, operation);
      if (!out_.failure.empty()) return;
    }
    GVB_CALL(cuda_, "recording an event", cuEventRecord, ended_.get(), stream);
    GVB_CALL(cuda_, "waiting for collectives", cuStreamSynchronize, stream);
    const int64_t ended = now_ns();
    out_.failure = ranks_.asynchronous_failure();
    if (!out_.failure.empty() || !counts) return;
    float ms = 0;
    GVB_CALL(cuda_, "timing collectives", cuEventElapsedTime, &ms, began_.get(), ended_.get());
    out_.host_ns.push_back(static_cast<double>(ended - began));
    out_.device_ns.push_back(double{ms} * kBurstNsPerMs);
  }

  using CUstream = abi::CUstream;

  DeviceSession& session_;
  const Cuda& cuda_;
  const CollectivesRequest& request_;
  const Ranks& ranks_;
  const Stream stream_;
  const Event began_, ended_;
  const RankMeeting meeting_;
  const std::unique_ptr<CollectiveData> data_;
  CollectiveTimes out_;
};

}  // namespace

CollectiveTimes run_collectives(DeviceSession& session, const CollectivesRequest& request) {
  const size_t words = request.ranks * sizeof(uint32_t);
  const bool whole =
      request.collective == Collective::kAllGather ? request.bytes % words == 0 : request.bytes % sizeof(uint32_t) == 0;
  if (!whole || request.rank >= request.ranks || request.root >= request.ranks)
    throw std::logic_error("unreachable: whole words of each rank, and ranks of the communicator");
  return Bursts(session, request).run();
}

}  // namespace gvb
