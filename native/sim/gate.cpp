#include "sim/gate.h"

namespace gvb::sim {

void GateEntry::abandon() {
  static auto& nobodys = *new Checkpointing{};
  own_.store(&nobodys);
}

void GateEntry::wait(Checkpointing* own) {
  constexpr int64_t kLookAgain = 1'000'000'000;
  // Whoever comes in between sees the gate closed and steps back: the lock sees nobody inside at last.
  while (own->closed.load() != 0) {
    own->inside.fetch_sub(1);
    while (own->closed.load() != 0) wait_on(own->closed, 1, kLookAgain);
    own->inside.fetch_add(1);
  }
}

}  // namespace gvb::sim
