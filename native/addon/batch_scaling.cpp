// How throughput depends on the batch size.
#include "bench/llm/batch_scaling.h"

#include "addon/stream_kinds.h"
#include "addon/topic.h"

namespace gvb {

template <>
struct Fields<StreamRequest> : FieldsOf<StreamRequest> {
  static constexpr const char* kName = "StreamRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(kind).one_of(kStreamKinds));
    visit(GVB_FIELD(bytes).says(
        "Size of a buffer in bytes, a multiple of 32 KiB; 0: 1 GiB or eight times the L2 cache."));
    visit(GVB_FIELD(batches).above_zero());
    visit(GVB_FIELD(least_launches).above_zero().says("Minimum number of launches per batch."));
    visit(GVB_FIELD(least_ns).says("Minimum duration of a batch."));
  }
};

template <>
struct Fields<StreamTimes> : FieldsOf<StreamTimes> {
  static constexpr const char* kName = "StreamTimes";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(moved_bytes).says("Bytes that a launch moves; a copy counts what it reads and what it writes."));
    visit(GVB_FIELD(launch_ns).as_array().says("Time per launch in each batch."));
  }
};

template <>
struct Fields<BatchScalingRequest> : FieldsOf<BatchScalingRequest> {
  static constexpr const char* kName = "BatchScalingRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(n).says("Rows of a layer's weights; 0: 8192, or as many as make the weights twice the L2 cache."));
    visit(GVB_FIELD(k).says("Columns of a layer's weights; a multiple of 64."));
    visit(GVB_FIELD(layers).says(
        "Number of layers; 0: enough for eight times the L2 cache, within a quarter of the free memory."));
    visit(
        GVB_FIELD(stream_bytes).says("Size of the buffer whose reading gives the memory bandwidth; 0: 1 GiB or more."));
    visit(GVB_FIELD(seed));
    visit(GVB_FIELD(rounds).above_zero().says("Number of rounds; each round measures every batch size once."));
    visit(GVB_FIELD(least_launches).above_zero().says("Minimum number of launches per batch size and round."));
    visit(GVB_FIELD(least_ns).says("Minimum duration per batch size and round."));
  }
};

template <>
struct Fields<BatchRow> : FieldsOf<BatchRow> {
  static constexpr const char* kName = "BatchRow";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(batch));
    visit(GVB_FIELD(variant));
    visit(GVB_FIELD(flops).says("Operations per launch."));
    visit(GVB_FIELD(bytes).says("Bytes per launch: weights, inputs and outputs, each counted once."));
    visit(GVB_FIELD(launch_ns).as_array().says("Time per launch in each round."));
    visit(GVB_FIELD(checksum).says("Checksum of a layer's outputs."));
  }
};

template <>
struct Fields<BatchScaling> : FieldsOf<BatchScaling> {
  static constexpr const char* kName = "BatchScaling";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(unsupported).or_null().says("Reason why nothing was measured; null: it was measured."));
    visit(GVB_FIELD(n));
    visit(GVB_FIELD(k));
    visit(GVB_FIELD(layers));
    visit(GVB_FIELD(batches));
    visit(GVB_FIELD(stream_bytes));
    visit(GVB_FIELD(stream_ns).as_array().says("Duration of each read of these bytes."));
    visit(GVB_FIELD(memory_ceiling_gbs).says("Peak memory bandwidth: 2 × clock × width of the memory's bus."));
    visit(
        GVB_FIELD(sm_clock_mhz).says("SM clock under the load of the largest batch; null if NVML does not report it."));
  }
};

namespace {

const Topic batch_scaling_topic{
    "Batch sizes",
    {in_session("stream", measure_stream)
         .says("Measures how long it takes to read, write or copy a buffer that is too large for the caches."),
     in_session("batchScaling", measure_batch_scaling)
         .says("Measures how long a linear layer takes for each of several batch sizes, and the memory bandwidth. "
               "Rejects if outputs are wrong.")}};

}  // namespace

}  // namespace gvb
