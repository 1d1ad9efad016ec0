#pragma once

#include <cstdint>
#include <map>
#include <set>

namespace gvb::sim {

// Best-fit allocation within [begin, end). Never touches the range itself.
class RangeAllocator {
 public:
  RangeAllocator() = default;
  RangeAllocator(uint64_t begin, uint64_t end) { insert(begin, end - begin); }

  // 0 if no hole is large enough, so the range must not begin at 0.
  uint64_t take(uint64_t bytes) {
    const auto hole = by_size_.lower_bound({bytes, 0});
    if (hole == by_size_.end()) return 0;
    const auto [size, at] = *hole;
    remove(at, size);
    if (size > bytes) insert(at + bytes, size - bytes);
    return at;
  }

  void give(uint64_t at, uint64_t bytes) {
    const auto next = by_address_.lower_bound(at);
    if (next != by_address_.begin()) {
      const auto [before, size] = *std::prev(next);
      if (before + size == at) {
        remove(before, size);
        at = before;
        bytes += size;
      }
    }
    const auto after = by_address_.find(at + bytes);
    if (after != by_address_.end()) {
      const uint64_t size = after->second;
      remove(at + bytes, size);
      bytes += size;
    }
    insert(at, bytes);
  }

 private:
  void insert(uint64_t at, uint64_t size) {
    by_address_[at] = size;
    by_size_.insert({size, at});
  }
  void remove(uint64_t at, uint64_t size) {
    by_address_.erase(at);
    by_size_.erase({size, at});
  }

  std::map<uint64_t, uint64_t> by_address_;
  std::set<std::pair<uint64_t, uint64_t>> by_size_;
};

}  // namespace gvb::sim
