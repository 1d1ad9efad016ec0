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
    visit(GVB_FIELD(bytes).says("Of a buffer, of which a copy has two; 0: eight times the L2 cache, at least 64 MiB."));
    visit(GVB_FIELD(blocks).says("Of 1024 threads; 0: two a multiprocessor."));
    visit(GVB_FIELD(start_at_ns).says("As `now` says it; a time that has passed starts at once."));
    visit(GVB_FIELD(window_ns).above_zero().says("By the device's clock or the host's, whichever passes first."));
  }
};

template <>
struct Fields<StreamWindow> : FieldsOf<StreamWindow> {
  static constexpr const char* kName = "StreamWindow";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(bytes).says("Of a buffer."));
    visit(GVB_FIELD(blocks));
    visit(GVB_FIELD(multiprocessors).says("That the tenant is told of."));
    visit(GVB_FIELD(moved_bytes).says("By a kernel: a copy reads and writes."));
    visit(GVB_FIELD(dram_ceiling_gbs).says("By its memory clock and bus width; 0: unknown."));
    visit(GVB_FIELD(origin_ms).says("Of the device's clock; the other times count from there."));
    visit(GVB_FIELD(from_ns).as_array().says("Of each kernel, when its first block began."));
    visit(GVB_FIELD(to_ns).as_array().says("Of each kernel, when its last block ended."));
  }
};

namespace {

const Topic stream_window_topic{
    "Bandwidth over time",
    {in_session("streamWindow", stream_for)
         .says("Reads, writes or copies memory for a time, and says when the device did so.")}};

}  // namespace

}  // namespace gvb
