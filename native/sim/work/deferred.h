// Results of finished work, computed only in the parts that are read: a product of two 4096 × 4096 matrices would take
// seconds here. They are known to one context only; another context that reads the same memory does not see them.
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
  // Call before memory is read.
  void compute(const Range& part);
  // Call before memory is written: computes the results that depend on it and drops those it covers.
  void overwrite(const Range& written);
  void clear() { results_.clear(); }
  bool empty() const { return results_.empty(); }

 private:
  void compute_all(const Result& result);

  std::vector<Result> results_;
};

}  // namespace gvb::sim
