// Throughput against the batch size.
#include "bench/llm/batch_scaling.h"

#include "addon/topic.h"
#include "bench/llm/stream.h"

namespace gvb {

namespace {

const Choices<StreamKind> kStreamKinds{
    "StreamKind", {{StreamKind::kRead, "read"}, {StreamKind::kWrite, "write"}, {StreamKind::kCopy, "copy"}}};

}  // namespace

template <>
struct Fields<StreamRequest> : FieldsOf<StreamRequest> {
  static constexpr const char* kName = "StreamRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(kind).one_of(kStreamKinds));
    visit(GVB_FIELD(bytes).says("Of a buffer, a multiple of 32 KiB; 0: 1 GiB or eight times the L2 cache."));
    visit(GVB_FIELD(batches).above_zero());
    visit(GVB_FIELD(least_launches).above_zero().says("Minimum per batch."));
    visit(GVB_FIELD(least_ns).says("Minimum per batch."));
  }
};

template <>
struct Fields<StreamTimes> : FieldsOf<StreamTimes> {
  static constexpr const char* kName = "StreamTimes";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(moved_bytes).says("By a launch: a copy reads and writes."));
    visit(GVB_FIELD(launch_ns).as_array().says("Time per launch in each batch."));
  }
};

template <>
struct Fields<BatchScalingRequest> : FieldsOf<BatchScalingRequest> {
  static constexpr const char* kName = "BatchScalingRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(n).says("Rows of a layer's weights; 0: 8192, or as many as are twice the L2 cache."));
    visit(GVB_FIELD(k).says("Columns; a multiple of 64."));
    visit(GVB_FIELD(layers).says("0: as many as are eight times the L2 cache and fit a quarter of the free memory."));
    visit(GVB_FIELD(stream_bytes).says("Of the buffer that is read for the memory's rate; 0: 1 GiB or more."));
    visit(GVB_FIELD(seed));
    visit(GVB_FIELD(rounds).above_zero().says("In each of which every batch has its turn."));
    visit(GVB_FIELD(least_launches).above_zero().says("Minimum per turn."));
    visit(GVB_FIELD(least_ns).says("Minimum per turn."));
  }
};

template <>
struct Fields<BatchRow> : FieldsOf<BatchRow> {
  static constexpr const char* kName = "BatchRow";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(batch));
    visit(GVB_FIELD(variant));
    visit(GVB_FIELD(flops).says("Per launch."));
    visit(GVB_FIELD(bytes).says("Of a launch: weights, inputs and outputs, each once."));
    visit(GVB_FIELD(launch_ns).as_array().says("Time per launch in each round."));
    visit(GVB_FIELD(checksum).says("Checksum of a layer's outputs."));
  }
};

template <>
struct Fields<BatchScaling> : FieldsOf<BatchScaling> {
  static constexpr const char* kName = "BatchScaling";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(unsupported).or_null().says("Why nothing was measured; null: it was."));
    visit(GVB_FIELD(n));
    visit(GVB_FIELD(k));
    visit(GVB_FIELD(layers));
    visit(GVB_FIELD(batches));
    visit(GVB_FIELD(stream_bytes));
    visit(GVB_FIELD(stream_ns).as_array().says("Of reading them, several times."));
    visit(GVB_FIELD(memory_ceiling_gbs).says("2 × clock × width of the memory's bus."));
    visit(GVB_FIELD(sm_clock_mhz).says("Under the load of the largest batch; null if NVML does not report it."));
  }
};

namespace {

const Topic batch_scaling_topic{
    "Batch sizes",
    {in_session("stream", measure_stream)
         .says("How long reading, writing or copying a buffer takes that no cache holds."),
     in_session("batchScaling", measure_batch_scaling)
         .says("How long a linear layer takes for each of several batch sizes, beside the memory's own "
               "rate; rejects where outputs are wrong.")}};

}  // namespace

}  // namespace gvb
