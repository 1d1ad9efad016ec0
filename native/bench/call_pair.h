// OH-005's block: one cheap driver call, alternating between the pointer an application gets and the driver's own, in
// the same process and context. The difference is the cost of interception, free of noise between processes. Every
// sample is four batches, A B B A: the first of two may cost more (idle queue, cold cache), and if samples of one order
// outnumbered the others, the median would be one of them.
#pragma once

#include <string>
#include <vector>

#include "bench/paired_function.h"

namespace gvb {

struct PairRequest {
  std::string name;
  unsigned batches = 0;     // per pointer; each is the mean of two
  unsigned calls = 0;       // per batch, at most
  double max_batch_ns = 0;  // two batches of expensive calls are shortened to about this
  double gap_ns = 0;  // before each batch the host does something else for up to this long, at least a quarter of it
  uint64_t seed = 0;  // for the order within each pair of batches, and for the gaps
  uint64_t core = 0;  // index of the processor to use
};

std::vector<std::string> pair_function_names();
PairBlock measure_pair(DeviceSession& session, const PairRequest& request);

}  // namespace gvb
