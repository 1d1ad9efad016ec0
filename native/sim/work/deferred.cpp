#include "sim/work/deferred.h"

#include <algorithm>

namespace gvb::sim {
namespace {

Range common(const Range& a, const Range& b) { return {std::max(a.begin, b.begin), std::min(a.end, b.end)}; }

bool overlaps(const Ranges& some, const Range& one) {
  return std::any_of(some.begin(), some.end(), [&](const Range& range) {
    const Range both = common(range, one);
    return both.begin < both.end;
  });
}

}  // namespace

void DeferredResults::compute(const Range& part) {
  const Need need = [this](const Range& range) { compute(range); };
  for (size_t i = 0; i < results_.size(); ++i)
    for (const Range& written : results_[i].writes) {
      const Range asked = common(written, part);
      if (asked.begin < asked.end) results_[i].compute(asked, need);
    }
}

void DeferredResults::compute_all(const Result& result) {
  for (const Range& written : result.writes) result.compute(written, [this](const Range& range) { compute(range); });
}

void DeferredResults::overwrite(const Range& written) {
  const auto covered = [&](const Result& result) {
    return std::all_of(result.writes.begin(), result.writes.end(),
                       [&](const Range& range) { return written.begin <= range.begin && range.end <= written.end; });
  };
  const auto concerned = [&](const Result& result) {
    return overlaps(result.reads, written) || overlaps(result.writes, written);
  };
  // Computes every result that depends on the part before removing it.
  for (const Result& result : results_)
    if (concerned(result) && !covered(result)) compute_all(result);
  results_.erase(std::remove_if(results_.begin(), results_.end(), concerned), results_.end());
}

}  // namespace gvb::sim
