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
    visit(GVB_FIELD(bytes).says("Size of a copy in bytes; a multiple of 4.").above_zero());
    visit(GVB_FIELD(copies).says("Copies per sample, made one after the other to adjacent memory.").above_zero());
    visit(GVB_FIELD(count));
    visit(GVB_FIELD(warmup));
    visit(GVB_FIELD(seed).says("Seed of the copied data."));
  }
};

template <>
struct Fields<CopyRate> : FieldsOf<CopyRate> {
  static constexpr const char* kName = "CopyRate";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(device_ns).says("Duration of each sample, by the device's events."));
    visit(GVB_FIELD(node).says(
        "NUMA node to which the thread and the host's memory are bound; null: they are not bound."));
  }
};

template <>
struct Fields<SourceCopiesRequest> : FieldsOf<SourceCopiesRequest> {
  static constexpr const char* kName = "SourceCopiesRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(source).one_of(kCopySources));
    visit(GVB_FIELD(bytes).says("Size of a copy in bytes; a multiple of 4.").above_zero());
    visit(GVB_FIELD(count));
    visit(GVB_FIELD(warmup));
    visit(GVB_FIELD(seed).says("Seed of the copied data."));
  }
};

template <>
struct Fields<SourceCopies> : FieldsOf<SourceCopies> {
  static constexpr const char* kName = "SourceCopies";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(copy_ns).says("Duration of each copy, by the host's clock."));
    visit(GVB_FIELD(pin_ns).says("Duration of the call that pinned the memory; null: the memory is not pinned."));
    visit(GVB_FIELD(pinned_bytes));
    visit(GVB_FIELD(node));
  }
};

template <>
struct Fields<PcieLinkRequest> : FieldsOf<PcieLinkRequest> {
  static constexpr const char* kName = "PcieLinkRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(bytes).says("Size of each copy that keeps the link busy, in bytes.").above_zero());
    visit(GVB_FIELD(seed));
  }
};

template <>
struct Fields<PcieLink> : FieldsOf<PcieLink> {
  static constexpr const char* kName = "PcieLink";
  static constexpr const char* kDoc = "PCIe link as NVML reports it; null for values that NVML does not report.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(generation).says("Current generation and width."));
    visit(GVB_FIELD(width));
    visit(GVB_FIELD(max_generation).says("Highest generation and width that both the device and the slot support."));
    visit(GVB_FIELD(max_width));
    visit(GVB_FIELD(under_load).says("Whether copies were in progress when NVML was read."));
  }
};

namespace {

const Topic host_copies_topic{
    "Copies between host and device",
    {in_session("copyRate", measure_copy_rate), in_session("sourceCopies", measure_source_copies),
     in_session("pcieLink", read_pcie_link)}};

}  // namespace

}  // namespace gvb
