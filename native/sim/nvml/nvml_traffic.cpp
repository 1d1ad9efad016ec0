// Traffic over the bus and the links.
#include <cmath>

#include "sim/nvml/nvml_library.h"

namespace gvb::sim {
namespace {

constexpr int64_t kBusWindowNs = 20'000'000;  // the same window as NVML's

double bus_bytes(const Traffic& traffic, abi::nvmlPcieUtilCounter_t way) {
  return way == abi::NVML_PCIE_UTIL_TX_BYTES ? traffic.bus_out : traffic.bus_in;
}

void read_speed(int place, abi::nvmlFieldValue_t* field) {
  const Settings& all = nvml_region().settings();
  const bool linked = all.topology == 0 && all.card(place).nvlinks > 0;
  field->valueType = abi::NVML_VALUE_TYPE_UNSIGNED_INT;
  field->value.uiVal = linked ? static_cast<unsigned>(all.card(place).nvlink_mbs) : 0;
  field->nvmlReturn = linked ? abi::NVML_SUCCESS : abi::NVML_ERROR_NOT_SUPPORTED;
}

void read_field(int place, abi::nvmlFieldValue_t* field) {
  if (field->fieldId == abi::NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON) return read_speed(place, field);
  const Traffic traffic = nvml_region().traffic(place).bytes;
  const bool is_sent = field->fieldId == abi::NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX;
  const bool is_received = field->fieldId == abi::NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX;
  if ((!is_sent && !is_received) || field->scopeId != abi::kAllNvLinks) {
    field->nvmlReturn = abi::NVML_ERROR_NOT_SUPPORTED;
    return;
  }
  field->valueType = abi::NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
  field->value.ullVal = static_cast<unsigned long long>((is_sent ? traffic.link_out : traffic.link_in) / 1024);
  field->nvmlReturn = abi::NVML_SUCCESS;
}

}  // namespace
}  // namespace gvb::sim

namespace gvb::abi {

nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, nvmlPcieUtilCounter_t way, unsigned* kilobytes) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetPcieThroughput, device);
  const bool known = way == NVML_PCIE_UTIL_TX_BYTES || way == NVML_PCIE_UTIL_RX_BYTES;
  if (!known || kilobytes == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  const sim::TrafficSoFar before = sim::nvml_region().traffic(index);
  sim::sleep_for(sim::kBusWindowNs);
  const sim::TrafficSoFar after = sim::nvml_region().traffic(index);
  const double moved = sim::bus_bytes(after.bytes, way) - sim::bus_bytes(before.bytes, way);
  // Uses the card's time, which is computed ahead while no other context can use the card.
  const double seconds = static_cast<double>(after.at - before.at) / 1e9;
  *kilobytes = seconds > 0 ? static_cast<unsigned>(std::lround(moved / 1e3 / seconds)) : 0;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t* fields) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetFieldValues, device);
  if (fields == nullptr || count < 0) return NVML_ERROR_INVALID_ARGUMENT;
  for (int i = 0; i < count; ++i) sim::read_field(index, &fields[i]);
  return NVML_SUCCESS;
}

}  // namespace gvb::abi
