#include "bench/llm/batch_scaling.h"

#include <algorithm>

#include "bench/gpu_state.h"
#include "bench/llm/launch_timer.h"
#include "bench/llm/stream.h"

namespace gvb {

namespace {

constexpr unsigned kMostStreamBatches = 3;
constexpr unsigned kBatches[] = {1, 2, 4, 8, 16, 32, 64};

StackShape stack_of(const BatchScalingRequest& request) {
  return {Number::kF16, request.n, request.k, request.layers, request.seed};
}

class Scaling {
 public:
  Scaling(DeviceSession& session, const BatchScalingRequest& request)
      : session_(session), request_(request), stack_(session, stack_of(request)), timer_(session) {
    for (const unsigned batch : kBatches) rows_.push_back({batch, 0, {}});
  }

  void measure(BatchScaling* out) {
    for (Row& row : rows_)
      row.launches = timer_.launches_of_batch({request_.least_launches, request_.least_ns}, launch_of(row.batch));
    std::mt19937_64 random(request_.seed);
    for (unsigned round = 0; round < request_.rounds; ++round) {
      std::shuffle(rows_.begin(), rows_.end(), random);
      for (Row& row : rows_) row.timed.push_back(timer_.time(row.launches, launch_of(row.batch)));
    }
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.batch < b.batch; });
    out->sm_clock_mhz = clock_under_load();
    out->n = stack_.n();
    out->k = stack_.k();
    out->layers = stack_.layers();
    for (const Row& row : rows_) out->batches.push_back(described(row));
  }

 private:
  struct Row {
    unsigned batch, launches;
    std::vector<LaunchBatch> timed;
  };

  // Cycles through the layers, so that a layer's weights are gone from the L2 cache when it is used again.
  LaunchTimer::Launch launch_of(unsigned batch) {
    return [this, batch](abi::CUstream stream) {
      stack_.launch(stream, batch, next_);
      next_ = (next_ + 1) % stack_.layers();
    };
  }

  std::optional<unsigned> clock_under_load() {
    const Row& largest = rows_.back();
    const LaunchTimer::Launch launch = launch_of(largest.batch);
    for (unsigned i = 0; i < largest.launches; ++i) launch(timer_.stream());
    const auto state = read_gpu_state(session_.driver.nvml.api, session_.nvml_device, GpuDetail::kReadings);
    GVB_CALL(session_.cuda, "waiting for a load", cuStreamSynchronize, timer_.stream());
    return state.sm_clock_mhz;
  }

  BatchRow described(const Row& row) {
    timer_.check_events(row.timed, "skinny products", launch_of(row.batch));
    const unsigned layer = static_cast<unsigned>(request_.seed % stack_.layers());
    stack_.poison();
    stack_.launch(timer_.stream(), row.batch, layer);
    stack_.check(row.batch, layer);
    const SkinnyGemm& product = stack_.product(row.batch);
    BatchRow out;
    out.batch = row.batch;
    out.variant = product.variant();
    out.flops = product.flops();
    out.bytes = product.bytes();
    for (const LaunchBatch& timed : row.timed) out.launch_ns.push_back(timed.launch_ns());
    out.checksum = stack_.checksum(row.batch, layer);
    return out;
  }

  DeviceSession& session_;
  const BatchScalingRequest& request_;
  WeightStack stack_;
  LaunchTimer timer_;
  std::vector<Row> rows_;
  unsigned next_ = 0;
};

std::optional<double> memory_ceiling_gbs(const DeviceSession& session) {
  const double gbs = dram_ceiling_gbs(session);
  return gbs > 0 ? std::optional(gbs) : std::nullopt;
}

void measure_reading(DeviceSession& session, const BatchScalingRequest& request, BatchScaling* out) {
  StreamRequest stream;
  stream.kind = StreamKind::kRead;
  stream.bytes = request.stream_bytes;
  stream.batches = std::min(request.rounds, kMostStreamBatches);
  stream.least_launches = request.least_launches;
  stream.least_ns = request.least_ns;
  const StreamTimes times = measure_stream(session, stream);
  out->stream_bytes = times.moved_bytes;
  out->stream_ns = times.launch_ns;
}

}  // namespace

BatchScaling measure_batch_scaling(DeviceSession& session, const BatchScalingRequest& request) {
  BatchScaling out;
  out.unsupported = no_room_for_stack(session, stack_of(request));
  if (!out.unsupported.empty()) return out;
  out.memory_ceiling_gbs = memory_ceiling_gbs(session);
  measure_reading(session, request, &out);
  Scaling(session, request).measure(&out);
  return out;
}

}  // namespace gvb
