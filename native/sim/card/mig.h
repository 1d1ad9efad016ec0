// MIG: splits a card into instances, which programs see as cards.
#pragma once

#include <string>

#include "sim/settings.h"

namespace gvb::sim {

// `layout` lists the sizes of the instances in sevenths of the card, as in 3+2+1, or the profiles of its model, as in
// 3g.40gb+1g.10gb; empty: the card is not split. Appends
// the instances to the list of cards. Throws std::runtime_error with the reason if the layout is impossible.
void cut_into_instances(const std::string& layout, int card, Settings& settings);

}  // namespace gvb::sim
