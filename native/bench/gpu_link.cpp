#include "bench/gpu_link.h"

#include "bench/nvml_query.h"

namespace gvb {

using abi::NVML_SUCCESS;
using abi::nvmlDevice_t;

namespace {

constexpr NvmlQuery kAskLink{nullptr};

struct GpuPair {
  nvmlDevice_t own, peer;
};

struct NvLinks {
  unsigned all = 0, to_peer = 0;
};

bool is_same_slot(const abi::nvmlPciInfo_t& one, const abi::nvmlPciInfo_t& other) {
  return one.domain == other.domain && one.bus == other.bus && one.device == other.device;
}

NvLinks nvlinks_of(const NvmlApi& nvml, const GpuPair& pair) {
  NvLinks links;
  const auto slot =
      kAskLink.value<abi::nvmlPciInfo_t>("nvmlDeviceGetPciInfo_v3", nvml.nvmlDeviceGetPciInfo_v3, pair.peer);
  for (unsigned link = 0; link < abi::NVML_NVLINK_MAX_LINKS; ++link) {
    const auto state = kAskLink.value<abi::nvmlEnableState_t>("nvmlDeviceGetNvLinkState", nvml.nvmlDeviceGetNvLinkState,
                                                              pair.own, link);
    if (state != abi::NVML_FEATURE_ENABLED) continue;
    ++links.all;
    const auto type = kAskLink.value<abi::nvmlIntNvLinkDeviceType_t>(
        "nvmlDeviceGetNvLinkRemoteDeviceType", nvml.nvmlDeviceGetNvLinkRemoteDeviceType, pair.own, link);
    const auto remote = kAskLink.value<abi::nvmlPciInfo_t>("nvmlDeviceGetNvLinkRemotePciInfo_v2",
                                                           nvml.nvmlDeviceGetNvLinkRemotePciInfo_v2, pair.own, link);
    // A switch connects every GPU with every other one.
    if (type == abi::NVML_NVLINK_DEVICE_TYPE_SWITCH || (slot && remote && is_same_slot(*slot, *remote)))
      ++links.to_peer;
  }
  return links;
}

std::optional<Connection> connection_at(abi::nvmlGpuTopologyLevel_t level) {
  switch (level) {
    case abi::NVML_TOPOLOGY_INTERNAL:
      return Connection::kBoard;
    case abi::NVML_TOPOLOGY_SINGLE:
      return Connection::kPix;
    case abi::NVML_TOPOLOGY_MULTIPLE:
      return Connection::kPxb;
    case abi::NVML_TOPOLOGY_HOSTBRIDGE:
      return Connection::kPhb;
    case abi::NVML_TOPOLOGY_NODE:
      return Connection::kNode;
    case abi::NVML_TOPOLOGY_SYSTEM:
      return Connection::kSys;
  }
  return std::nullopt;
}

std::optional<Connection> connection_of(const NvmlApi& nvml, const GpuPair& pair, const NvLinks& nvlinks) {
  // Nobody says whether the NVLinks between the two are in use.
  if (!nvml.nvmlDeviceGetP2PStatus && nvlinks.to_peer > 0) return std::nullopt;
  const auto nvlink = kAskLink.value<abi::nvmlGpuP2PStatus_t>("nvmlDeviceGetP2PStatus", nvml.nvmlDeviceGetP2PStatus,
                                                              pair.own, pair.peer, abi::NVML_P2P_CAPS_INDEX_NVLINK);
  if (nvlink == abi::NVML_P2P_STATUS_OK) return Connection::kNvLink;
  const auto level = kAskLink.value<abi::nvmlGpuTopologyLevel_t>(
      "nvmlDeviceGetTopologyCommonAncestor", nvml.nvmlDeviceGetTopologyCommonAncestor, pair.own, pair.peer);
  return level ? connection_at(*level) : std::nullopt;
}

std::optional<unsigned> nvlink_speed(const NvmlApi& nvml, nvmlDevice_t device) {
  abi::nvmlFieldValue_t field{};
  field.fieldId = abi::NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON;
  const bool asked = nvml.nvmlDeviceGetFieldValues && nvml.nvmlDeviceGetFieldValues(device, 1, &field) == NVML_SUCCESS;
  if (!asked || field.nvmlReturn != NVML_SUCCESS || field.value.uiVal == 0) return std::nullopt;
  return field.value.uiVal;
}

}  // namespace

GpuLink read_gpu_link(DeviceSession& session, const GpuLinkRequest& request) {
  GpuLink link;
  const NvmlApi& nvml = session.driver.nvml.api;
  const GpuPair pair = {session.nvml_device, nvml_handle(nvml, request.peer)};
  if (!pair.own || !pair.peer) return link;
  const NvLinks nvlinks = nvlinks_of(nvml, pair);
  link.connection = connection_of(nvml, pair, nvlinks);
  link.nvlinks = nvlinks.all;
  link.peer_nvlinks = link.connection == Connection::kNvLink ? nvlinks.to_peer : 0;
  link.nvlink_mbs = nvlink_speed(nvml, pair.own);
  link.pcie_generation =
      kAskLink.value<unsigned>("nvmlDeviceGetMaxPcieLinkGeneration", nvml.nvmlDeviceGetMaxPcieLinkGeneration, pair.own);
  link.pcie_width =
      kAskLink.value<unsigned>("nvmlDeviceGetMaxPcieLinkWidth", nvml.nvmlDeviceGetMaxPcieLinkWidth, pair.own);
  return link;
}

}  // namespace gvb
