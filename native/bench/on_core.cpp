#include "bench/on_core.h"

namespace gvb {

OnCore::OnCore(uint64_t turn) {
  if (sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  uint64_t left = turn % static_cast<uint64_t>(CPU_COUNT(&before_));
  size_t core = 0;
  while (!CPU_ISSET(core, &before_) || left-- > 0) ++core;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(core, &only);
  if (sched_setaffinity(0, sizeof only, &only) == 0) number_ = static_cast<int>(core);
}

OnCore::~OnCore() {
  if (number_) sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace gvb
