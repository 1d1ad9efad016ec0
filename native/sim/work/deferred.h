// Results of work that is over, of which only the parts that somebody reads are computed: a product of two 4096 × 4096
// matrices would take seconds here. Known to one context alone: another one that looks at the same memory sees nothing
// of them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace gvb::sim {

struct Range {
  uint64_t begin;
  uint64_t end;
};
using Ranges = std::vector<Range>;

class DeferredResults {
 public:
  using Need = std::function<void(const Range&)>;  // called before memory is read
  // Computes at least the part of the result in `part`, in any order and as often as asked.
  using Compute = std::function<void(const Range& part, const Need& need)>;

  struct Result {
    Ranges reads, writes;
    Compute compute;
  };

  void add(Result result) { results_.push_back(std::move(result)); }
  // Before memory is read.
  void compute(const Range& part);
  // Before memory is written: what depends on it is computed, and what it covers is dropped.
  void overwrite(const Range& written);
  void clear() { results_.clear(); }
  bool empty() const { return results_.empty(); }

 private:
  void compute_all(const Result& result);

  std::vector<Result> results_;
};

}  // namespace gvb::sim
