// How cards are connected: by NVLinks to a switch, or only over PCIe.
#include "sim/card/facts.h"
#include "sim/nvml/nvml_library.h"

namespace gvb::sim {
namespace {

bool by_nvlink(int card) {
  const Settings& all = nvml_region().settings();
  return all.topology == 0 && all.card(card).parent < 0;
}

// Active ones.
int64_t nvlinks(int card) { return by_nvlink(card) ? nvml_region().settings().card(card).nvlinks : 0; }

template <class Value>
abi::nvmlReturn_t of_link(int card, unsigned link, Value* to, Value value) {
  if (to == nullptr || link >= abi::NVML_NVLINK_MAX_LINKS) return abi::NVML_ERROR_INVALID_ARGUMENT;
  if (link >= nvlinks(card)) return abi::NVML_ERROR_NOT_SUPPORTED;
  *to = value;
  return abi::NVML_SUCCESS;
}

}  // namespace
}  // namespace gvb::sim

namespace gvb::abi {

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned link, nvmlEnableState_t* state) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetNvLinkState, device);
  return sim::of_link(index, link, state, NVML_FEATURE_ENABLED);
}

nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned link, nvmlIntNvLinkDeviceType_t* type) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetNvLinkRemoteDeviceType, device);
  return sim::of_link(index, link, type, NVML_NVLINK_DEVICE_TYPE_SWITCH);
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned link, nvmlPciInfo_t* info) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetNvLinkRemotePciInfo_v2, device);
  nvmlPciInfo_t of_switch{};
  of_switch.bus = 0xff;
  return sim::of_link(index, link, info, of_switch);
}

nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t device, nvmlDevice_t peer, nvmlGpuP2PCapsIndex_t capability,
                                    nvmlGpuP2PStatus_t* status) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetP2PStatus, device);
  const int other = sim::device_index(peer);
  if (other < 0 || status == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  const bool linked = sim::nvlinks(index) > 0 && sim::nvlinks(other) > 0;
  *status = capability == NVML_P2P_CAPS_INDEX_NVLINK && linked ? NVML_P2P_STATUS_OK : NVML_P2P_STATUS_NOT_SUPPORTED;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t device, nvmlDevice_t peer,
                                                 nvmlGpuTopologyLevel_t* level) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetTopologyCommonAncestor, device);
  if (sim::device_index(peer) < 0 || level == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  const int64_t set = sim::nvml_region().settings().topology;
  *level = set == 0 ? NVML_TOPOLOGY_NODE : static_cast<nvmlGpuTopologyLevel_t>(set);
  return NVML_SUCCESS;
}

}  // namespace gvb::abi
