#include "sim/card/mig.h"

#include <stdexcept>
#include <vector>

namespace gvb::sim {
namespace {

// Sizes of the profiles of an H100 and H200: multiprocessors of 132, eighths of memory, L2, DRAM and copy bandwidth.
struct Profile {
  int64_t slices;
  double sms;
  double eighths;
};

constexpr Profile kProfiles[] = {{1, 16, 1}, {2, 32, 2}, {3, 60, 4}, {4, 64, 4}, {7, 132, 8}};

const Profile* profile_of(char slices) {
  for (const Profile& profile : kProfiles)
    if (profile.slices == slices - '0') return &profile;
  return nullptr;
}

CardSettings instance_of(const CardSettings& card, const Profile& profile) {
  CardSettings instance = card;
  const double part = profile.eighths / 8;
  const double sms = profile.sms / 132;
  instance.sms = static_cast<int64_t>(static_cast<double>(card.sms) * sms);
  instance.memory_mib = static_cast<int64_t>(static_cast<double>(card.memory_mib) * part);
  instance.l2_mib = static_cast<int64_t>(static_cast<double>(card.l2_mib) * part);
  instance.dram_gbs *= part;
  instance.l2_gbs *= part;
  instance.pcie_gbs *= part;
  instance.pcie_out_gbs *= part;
  instance.pageable_gbs *= part;
  instance.fp32_tflops *= sms;
  instance.tensor_tflops *= sms;
  instance.slices = profile.slices;
  return instance;
}

}  // namespace

void cut_into_instances(const std::string& layout, int index, Settings& settings) {
  if (layout.empty()) return;
  CardSettings& card = settings.cards[index];
  double eighths = 0;
  int64_t slices = 0;
  card.first_instance = settings.places;
  for (size_t i = 0; i < layout.size(); i += 2) {
    const Profile* profile = profile_of(layout[i]);
    const bool ends = i + 1 == layout.size();
    if (profile == nullptr || (!ends && (layout[i + 1] != '+' || i + 2 == layout.size())))
      throw std::runtime_error(
          "Expected GVB_SIM mig to be sizes of instances out of 1, 2, 3, 4 and 7, joined by +, but received '" +
          layout + "'.");
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
