// Copies between host and device, and the link that carries them.
#include "addon/topic.h"
#include "bench/copy_rate.h"
#include "bench/copy_source.h"
#include "bench/pcie_link.h"

namespace gvb {

namespace {

const Choices<CopyWay> kCopyWays{"CopyWay",
                                 {{CopyWay::kToDevice, "cuMemcpyHtoDAsync"},
                                  {CopyWay::kToHost, "cuMemcpyDtoHAsync"},
                                  {CopyWay::kToDeviceBatch, "cuMemcpyBatchAsync to the device"},
                                  {CopyWay::kToHostBatch, "cuMemcpyBatchAsync to the host"},
                                  {CopyWay::kBoth, "both directions at once"},
                                  {CopyWay::kStore, "stores of a kernel"}}};

const Choices<CopySource> kCopySources{"CopySource",
                                       {{CopySource::kHostAlloc, "cuMemHostAlloc"},
                                        {CopySource::kPageable, "mmap"},
                                        {CopySource::kRegistered, "cuMemHostRegister"}}};

}  // namespace

template <>
struct Fields<CopyRateRequest> : FieldsOf<CopyRateRequest> {
  static constexpr const char* kName = "CopyRateRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(way).one_of(kCopyWays));
    visit(GVB_FIELD(bytes).says("Of a copy: a multiple of 4.").above_zero());
    visit(GVB_FIELD(copies).says("Of a sample, one behind the other, to memory side by side.").above_zero());
    visit(GVB_FIELD(count));
    visit(GVB_FIELD(warmup));
    visit(GVB_FIELD(seed).says("Of what is copied."));
  }
};

template <>
struct Fields<CopyRate> : FieldsOf<CopyRate> {
  static constexpr const char* kName = "CopyRate";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(device_ns).says("Of each sample, by the device's events."));
    visit(GVB_FIELD(node).says("The NUMA node of the thread and the host's memory; null: bound to none."));
  }
};

template <>
struct Fields<SourceCopiesRequest> : FieldsOf<SourceCopiesRequest> {
  static constexpr const char* kName = "SourceCopiesRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(source).one_of(kCopySources));
    visit(GVB_FIELD(bytes).says("Of a copy: a multiple of 4.").above_zero());
    visit(GVB_FIELD(count));
    visit(GVB_FIELD(warmup));
    visit(GVB_FIELD(seed).says("Of what is copied."));
  }
};

template <>
struct Fields<SourceCopies> : FieldsOf<SourceCopies> {
  static constexpr const char* kName = "SourceCopies";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(copy_ns).says("Of each copy, by the host's clock."));
    visit(GVB_FIELD(pin_ns).says("Of the one call that pinned the memory; null: it is not pinned."));
    visit(GVB_FIELD(pinned_bytes));
    visit(GVB_FIELD(node));
  }
};

template <>
struct Fields<PcieLinkRequest> : FieldsOf<PcieLinkRequest> {
  static constexpr const char* kName = "PcieLinkRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(bytes).says("Of each copy that keeps the link busy.").above_zero());
    visit(GVB_FIELD(seed));
  }
};

template <>
struct Fields<PcieLink> : FieldsOf<PcieLink> {
  static constexpr const char* kName = "PcieLink";
  static constexpr const char* kDoc = "As NVML reports it, null where it does not.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(generation).says("Now, as the width."));
    visit(GVB_FIELD(width));
    visit(GVB_FIELD(max_generation).says("Of device and slot together, as the width."));
    visit(GVB_FIELD(max_width));
    visit(GVB_FIELD(under_load).says("Copies were under way when it was read."));
  }
};

namespace {

const Topic host_copies_topic{
    "Copies between host and device",
    {in_session("copyRate", measure_copy_rate), in_session("sourceCopies", measure_source_copies),
     in_session("pcieLink", read_pcie_link)}};

}  // namespace

}  // namespace gvb
