// What happens where work of one card uses the memory of another one.
#pragma once

#include "sim/card/sharing.h"
#include "sim/memory/address_space.h"
#include "sim/work/context.h"

namespace gvb::sim {

// How data gets from one card to another: at what rate, and how much of the own card's way out or in that takes. The
// other card's is not loaded.
struct Way {
  double gbs;
  Resource resource;
  double part;
};
Way way_between(int own, int from, int to);

// The queue of the card's own contexts knows nothing of another card's work. So what they wrote there so far is
// computed now, and from now on as soon as it is over.
void open_to_other_cards(const Block& block);

}  // namespace gvb::sim
