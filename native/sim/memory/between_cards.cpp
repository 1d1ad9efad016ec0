#include "sim/memory/between_cards.h"

#include "sim/settings.h"

namespace gvb::sim {

Way way_between(int own, int from, int to) {
  const double gbs = gbs_between(card_settings(from), card_settings(to));
  const CardSettings& card = card_settings(own);
  const bool out = own == from;
  if (over_nvlink(settings())) return {gbs, out ? kLinkOut : kLinkIn, gbs / card.link_gbs};
  return {gbs, out ? kCopyOut : kCopyIn, gbs / (out ? gbs_from_card(card) : gbs_to_card(card))};
}

void open_to_other_cards(const Block& block) {
  if (block.shared || !share_block(block.address)) return;
  if (const auto queue = queue_of_context(block.context)) queue->settle(range_of(block.address, block.bytes), false);
}

}  // namespace gvb::sim
