// The link to the host: its current and its highest generation and width.
#include "sim/nvml/nvml_library.h"

namespace gvb::sim {
namespace {

abi::nvmlReturn_t link_value(const CardSettings& card, unsigned* to, int64_t value) {
  if (to == nullptr) return abi::NVML_ERROR_INVALID_ARGUMENT;
  if (card.pcie_gen == 0) return abi::NVML_ERROR_NOT_SUPPORTED;
  *to = static_cast<unsigned>(value);
  return abi::NVML_SUCCESS;
}

// A link without traffic may save power at a lower rate.
int64_t generation_now(const CardSettings& card, int place) {
  return card.pcie_idle_gen > 0 && !nvml_region().card(place).busy() ? card.pcie_idle_gen : card.pcie_gen;
}

}  // namespace
}  // namespace gvb::sim

namespace gvb::abi {

nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned* generation) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetCurrPcieLinkGeneration, device);
  const sim::CardSettings card = sim::nvml_region().settings().card(index);
  return sim::link_value(card, generation, sim::generation_now(card, index));
}

nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned* lanes) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetCurrPcieLinkWidth, device);
  const sim::CardSettings card = sim::nvml_region().settings().card(index);
  return sim::link_value(card, lanes, card.pcie_width);
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned* generation) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetMaxPcieLinkGeneration, device);
  const sim::CardSettings card = sim::nvml_region().settings().card(index);
  return sim::link_value(card, generation, card.pcie_gen);
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned* lanes) {
  GVB_SIM_NVML_DEVICE(nvmlDeviceGetMaxPcieLinkWidth, device);
  const sim::CardSettings card = sim::nvml_region().settings().card(index);
  return sim::link_value(card, lanes, card.pcie_max_width);
}

}  // namespace gvb::abi
