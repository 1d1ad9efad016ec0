#include "sim/card/mig.h"

#include <stdexcept>
#include <vector>

#include "base/text.h"
#include "sim/card/models.h"

namespace gvb::sim {
namespace {

// Sizes of the profiles of an H100 and H200: multiprocessors of 132, eighths of memory, L2, DRAM and copy bandwidth.
constexpr MigProfile kShares[] = {
    {"1", 1, 16, 1, 0, 0}, {"2", 2, 32, 2, 0, 0}, {"3", 3, 60, 4, 0, 0}, {"4", 4, 64, 4, 0, 0}, {"7", 7, 132, 8, 0, 0}};

const MigProfile* share_of(const std::string& text) {
  for (const MigProfile& share : kShares)
    if (text == share.name) return &share;
  return nullptr;
}

CardSettings part_of(const CardSettings& card, const MigProfile& profile, double sms) {
  CardSettings instance = card;
  const double part = static_cast<double>(profile.eighths) / 8;
  instance.sms = static_cast<int64_t>(static_cast<double>(card.sms) * sms);
  instance.memory_mib = static_cast<int64_t>(static_cast<double>(card.memory_mib) * part);
  instance.l2_mib = static_cast<int64_t>(static_cast<double>(card.l2_mib) * part);
  instance.dram_gbs *= part;
  instance.bus_bits = card.bus_bits * profile.eighths / 8;  // so that the memory's clock is the card's
  instance.l2_gbs *= part;
  instance.pcie_gbs *= part;
  instance.pcie_out_gbs *= part;
  instance.pageable_gbs *= part;
  instance.fp32_tflops *= sms;
  instance.tensor_tflops *= sms;
  instance.slices = profile.slices;
  return instance;
}

// An instance of a card of no model has shares of it; one of a model has what the profile says.
CardSettings instance_of(const CardSettings& card, const MigProfile& profile) {
  if (card.model < 0) return part_of(card, profile, static_cast<double>(profile.sms) / 132);
  CardSettings instance = part_of(card, profile, static_cast<double>(profile.sms) / static_cast<double>(card.sms));
  instance.sms = profile.sms;
  instance.memory_mib = profile.memory_mib;
  instance.copy_engines = profile.copy_engines;
  instance.profile = index_of(card, profile);
  return instance;
}

std::string expected_of(const CardSettings& card) {
  if (card.model < 0) return "sizes of instances out of 1, 2, 3, 4 and 7, joined by +,";
  const std::string known = profile_names(card);
  if (known.empty()) return std::string("left out, because ") + product_name(card) + " has no MIG,";
  return "profiles of instances out of " + known + ", joined by +,";
}

}  // namespace

void cut_into_instances(const std::string& layout, int index, Settings& settings) {
  if (layout.empty()) return;
  CardSettings& card = settings.cards[index];
  int64_t eighths = 0;
  int64_t slices = 0;
  card.first_instance = settings.places;
  for (const std::string& part : split(layout, '+')) {
    const MigProfile* profile = card.model < 0 ? share_of(part) : profile_of(card, part);
    if (profile == nullptr)
      throw std::runtime_error("Expected GVB_SIM mig to be " + expected_of(card) + " but received '" + layout + "'.");
    eighths += profile->eighths;
    slices += profile->slices;
    if (eighths > 8 || slices > 7 || settings.places == kMaxDevices)
      throw std::runtime_error("Expected the instances of GVB_SIM mig to fit into their card but received '" + layout +
                               "'.");
    CardSettings& instance = settings.cards[settings.places++];
    instance = instance_of(card, *profile);
    instance.instances = 0;
    instance.parent = index;
    instance.instance = card.instances++;
  }
}

}  // namespace gvb::sim
