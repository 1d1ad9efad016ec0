// MIG: a card that is cut into instances, each a card of its own as far as programs can tell.
#pragma once

#include <string>

#include "sim/settings.h"

namespace gvb::sim {

// `layout` is the sizes of the instances in sevenths of the card, joined by +, as in 3+2+1; empty: the card stays
// whole. The instances are appended to the list of cards. Throws std::runtime_error with the reason where that cannot
// be.
void cut_into_instances(const std::string& layout, int card, Settings& settings);

}  // namespace gvb::sim
