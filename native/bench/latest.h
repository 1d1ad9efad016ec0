// Keeps the latest of many values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gvb {

class Latest {
 public:
  explicit Latest(size_t most) : most_(most) {}

  void add(double value) {
    if (most_ == 0) return;
    if (values_.size() < most_)
      values_.push_back(value);
    else
      values_[next_] = value;
    next_ = (next_ + 1) % most_;
  }

  // Oldest first.
  std::vector<double> in_order() const {
    std::vector<double> ordered = values_;
    if (ordered.size() == most_)
      std::rotate(ordered.begin(), ordered.begin() + static_cast<std::ptrdiff_t>(next_), ordered.end());
    return ordered;
  }

 private:
  const size_t most_;
  std::vector<double> values_;
  size_t next_ = 0;
};

}  // namespace gvb
