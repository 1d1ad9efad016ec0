#include "bench/pcie_link.h"

#include "base/clock.h"
#include "bench/copy_rate.h"
#include "bench/nvml_query.h"

namespace gvb {

namespace {

// NVML may take milliseconds: if the copies ended before it answered, it is asked again with more copies.
constexpr unsigned kFirstCopies = 8;
constexpr unsigned kMostCopies = 128;
constexpr double kLinkNsPerMs = 1e6;

PcieLink link_of(const DeviceSession& session) {
  const NvmlApi& nvml = session.driver.nvml.api;
  const NvmlQuery ask{nullptr};
  PcieLink link;
  if (session.driver.nvml.path) {
    // Without them the device is not found.
    require_nvml(nvml.nvmlInit_v2, "nvmlInit_v2");
    require_nvml(nvml.nvmlDeviceGetHandleByUUID, "nvmlDeviceGetHandleByUUID");
  }
  if (!session.nvml_device) return link;
  const auto value = [&](const char* call, auto function) {
    return ask.value<unsigned>(call, function, session.nvml_device);
  };
  const auto needed = [&](const char* call, auto function) { return value(call, require_nvml(function, call)); };
  // Without them no rate could be judged.
  link.generation = needed("nvmlDeviceGetCurrPcieLinkGeneration", nvml.nvmlDeviceGetCurrPcieLinkGeneration);
  link.width = needed("nvmlDeviceGetCurrPcieLinkWidth", nvml.nvmlDeviceGetCurrPcieLinkWidth);
  link.max_generation = value("nvmlDeviceGetMaxPcieLinkGeneration", nvml.nvmlDeviceGetMaxPcieLinkGeneration);
  link.max_width = value("nvmlDeviceGetMaxPcieLinkWidth", nvml.nvmlDeviceGetMaxPcieLinkWidth);
  return link;
}

}  // namespace

PcieLink read_pcie_link(DeviceSession& session, const PcieLinkRequest& request) {
  const Cuda& cuda = session.cuda;
  const MappedMemory& source = session.kept<PinnedBuffers>().source(request.bytes, CopyPattern(request.seed));
  const DeviceMemory memory = make_memory(cuda, request.bytes);
  const Stream stream = make_stream(cuda);
  const Event began = make_event(cuda), ended = make_event(cuda);
  PcieLink link;
  for (unsigned copies = kFirstCopies; copies <= kMostCopies && !link.under_load; copies *= 4) {
    session.token.check();
    const int64_t before = now_ns();
    GVB_CALL(cuda, "recording an event", cuEventRecord, began.get(), stream.get());
    for (unsigned i = 0; i < copies; ++i)
      GVB_CALL(cuda, "keeping the link busy", cuMemcpyHtoDAsync_v2, memory.get(), source.host(), request.bytes,
               stream.get());
    GVB_CALL(cuda, "recording an event", cuEventRecord, ended.get(), stream.get());
    link = link_of(session);
    const int64_t read = now_ns();
    GVB_CALL(cuda, "waiting for copies", cuStreamSynchronize, stream.get());
    float milliseconds = 0;
    GVB_CALL(cuda, "reading the time of copies", cuEventElapsedTime, &milliseconds, began.get(), ended.get());
    // The copies began after `before`, so they ended after `read` if they took longer than the time between the two.
    link.under_load = static_cast<double>(milliseconds) * kLinkNsPerMs > static_cast<double>(read - before);
  }
  return link;
}

}  // namespace gvb
