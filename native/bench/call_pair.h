// OH-005's block: one cheap driver call, made through the pointer an application gets and, alternating, through the
// driver's own, in the same process and context. The difference is what interception costs, free of all the noise
// between processes. Every sample is four batches, A B B A: what comes first of two may cost more (an idle queue, a
// cold cache), and where samples of one order outnumber the others, a median would sit among them.
#pragma once

#include <string>
#include <vector>

#include "bench/paired_function.h"

namespace gvb {

struct PairRequest {
  std::string name;
  unsigned batches = 0;     // of each pointer, as the mean of two
  unsigned calls = 0;       // at most, per batch
  double max_batch_ns = 0;  // two batches of expensive calls are shortened to about this
  double gap_ns = 0;  // before each batch the host does something else for up to so long, at least a quarter of it
  uint64_t seed = 0;  // of the order within each pair of batches, and of the gaps
  uint64_t core = 0;  // whose turn it is
};

std::vector<std::string> pair_function_names();
PairBlock measure_pair(DeviceSession& session, const PairRequest& request);

}  // namespace gvb
