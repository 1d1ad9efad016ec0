#include "bench/stream_concurrency.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "bench/partition.h"
#include "bench/stage_kernels.h"

namespace gvb {

namespace {

// The most shared memory that a block may have, so that no second block fits on its multiprocessor.
unsigned whole_shared_memory(const DeviceSession& session) {
  const auto bytes =
      device_attribute(session.cuda, session.device, abi::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  return bytes && *bytes > 0 ? static_cast<unsigned>(*bytes) : 0;
}

unsigned blocks_of_stream(const DeviceSession& session, unsigned streams) {
  const unsigned all = multiprocessors_of(session);
  if (streams > all)
    throw Failure(FailureKind::kFunctionMissing, std::to_string(streams) +
                                                     " streams need as many multiprocessors, and " + "the device has " +
                                                     std::to_string(all) + ".");
  return all / streams;
}

class Streams {
 public:
  Streams(DeviceSession& session, const ConcurrencyRequest& request)
      : cuda_(session.cuda),
        request_(request),
        blocks_(blocks_of_stream(session, request.streams)),
        kernels_(session, {places(), 2 * places()}, {blocks_, whole_shared_memory(session)}) {
    if (request.partition > 0) partition_.emplace(session, request.partition);
    multiprocessors_ = partition_ ? partition_->multiprocessors() : multiprocessors_of(session);
    for (unsigned i = 0; i < request.streams; ++i)
      streams_.push_back(partition_ ? partition_->make_stream() : make_stream(cuda_));
  }
  // Kernels must be over before the memory that they write to is freed.
  ~Streams() {
    for (const Stream& stream : streams_) cuda_.try_call(cuda_.api.cuStreamSynchronize, stream.get());
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  unsigned blocks() const { return blocks_; }
  unsigned multiprocessors() const { return multiprocessors_; }

  double alone(unsigned rounds) {
    kernels_.begin(places());
    kernels_.launch(stage(0), rounds, streams_.front().get());
    finish();
    return checked(0, rounds).took();
  }

  // Launches to the streams in turn, like a host that feeds several streams.
  void run(unsigned rounds, StreamConcurrency* out) {
    kernels_.begin(places());
    for (size_t place = 0; place < places(); ++place)
      kernels_.launch(stage(place), rounds, streams_[place % request_.streams].get());
    finish();
    publish(rounds, out);
  }

 private:
  size_t places() const { return size_t{request_.streams} * request_.kernels; }
  Stage stage(size_t place) const { return {place, place, places() + place}; }
  StageStamps checked(size_t place, unsigned rounds) const {
    return kernels_.checked(stage(place), rounds, "kernel " + std::to_string(place + 1));
  }
  void finish() {
    for (const Stream& stream : streams_)
      GVB_CALL(cuda_, "waiting for independent streams", cuStreamSynchronize, stream.get());
    kernels_.read_tokens();
  }

  void publish(unsigned rounds, StreamConcurrency* out) const {
    std::vector<std::pair<uint64_t, int>> changes;
    std::vector<double> took;
    double work = 0;
    for (size_t place = 0; place < places(); ++place) {
      const StageStamps found = checked(place, rounds);
      changes.emplace_back(found.began, 1);
      changes.emplace_back(found.ended, -1);
      took.push_back(found.took());
      work += found.took();
    }
    // At equal times an end counts before a start.
    std::sort(changes.begin(), changes.end());
    int now = 0, most = 0;
    for (const auto& change : changes) most = std::max(most, now += change.second);
    const auto span = static_cast<double>(changes.back().first - changes.front().first);
    out->kernel_ns.push_back(median_of(took));
    out->span_ns.push_back(span);
    out->mean.push_back(work / std::max(1.0, span));
    out->most.push_back(most);
  }

  const Cuda& cuda_;
  const ConcurrencyRequest& request_;
  const unsigned blocks_;
  StageKernels kernels_;
  std::optional<Partition> partition_;  // outlives its streams
  unsigned multiprocessors_ = 0;
  std::vector<Stream> streams_;
};

}  // namespace

StreamConcurrency measure_stream_concurrency(DeviceSession& session, const ConcurrencyRequest& request) {
  require_attribute(session, abi::CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, "concurrent kernels");
  Streams streams(session, request);
  StreamConcurrency out;
  out.blocks = streams.blocks();
  out.multiprocessors = streams.multiprocessors();
  const auto alone = [&](unsigned rounds) { return streams.alone(rounds); };
  out.rounds = request.rounds > 0 ? request.rounds : calibrated_stage(request.kernel_ns, alone);
  for (unsigned i = 0; i < request.runs; ++i) {
    out.alone_ns.push_back(streams.alone(out.rounds));
    streams.run(out.rounds, &out);
  }
  return out;
}

}  // namespace gvb
