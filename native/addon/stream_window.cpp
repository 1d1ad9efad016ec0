// A tenant's bandwidth over time.
#include "bench/stream_window.h"

#include "addon/stream_kinds.h"
#include "addon/topic.h"

namespace gvb {

template <>
struct Fields<StreamWindowRequest> : FieldsOf<StreamWindowRequest> {
  static constexpr const char* kName = "StreamWindowRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(kind).one_of(kStreamKinds));
    visit(GVB_FIELD(bytes).says(
        "Size of a buffer in bytes (a copy uses two); 0: eight times the L2 cache, at least 64 MiB."));
    visit(GVB_FIELD(blocks).says("Number of blocks per kernel, each with 1024 threads; 0: two per multiprocessor."));
    visit(GVB_FIELD(start_at_ns).says("Start time on the clock of `now`. If it has passed, starts at once."));
    visit(GVB_FIELD(window_ns).above_zero().says(
        "Time during which kernels are launched, by the device's clock or the host's, whichever is over first."));
  }
};

template <>
struct Fields<StreamWindow> : FieldsOf<StreamWindow> {
  static constexpr const char* kName = "StreamWindow";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(bytes).says("Size of a buffer in bytes."));
    visit(GVB_FIELD(blocks));
    visit(GVB_FIELD(multiprocessors).says("Number of multiprocessors that the tenant is told."));
    visit(GVB_FIELD(moved_bytes).says("Bytes that a kernel moves; a copy counts what it reads and what it writes."));
    visit(GVB_FIELD(dram_ceiling_gbs).says("Peak memory bandwidth from memory clock and bus width; 0: unknown."));
    visit(GVB_FIELD(origin_ms).says("Time on the device's clock; `fromNs` and `toNs` are relative to it."));
    visit(GVB_FIELD(from_ns).as_array().says("Time at which each kernel's first block started."));
    visit(GVB_FIELD(to_ns).as_array().says("Time at which each kernel's last block ended."));
  }
};

namespace {

const Topic stream_window_topic{
    "Bandwidth over time",
    {in_session("streamWindow", stream_for)
         .says("Reads, writes or copies memory for a time and reports when the device did so.")}};

}  // namespace

}  // namespace gvb
