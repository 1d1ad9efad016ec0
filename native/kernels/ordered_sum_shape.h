// The threads of a block of gvb_ordered_sum, for the kernel, the measurement and the simulated driver.
#pragma once

namespace gvb {

constexpr unsigned kOrderedSumThreads = 256;

}  // namespace gvb
