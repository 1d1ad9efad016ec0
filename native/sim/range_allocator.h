#pragma once

#include <cstdint>
#include <map>
#include <set>

namespace gvb::sim {

// Best-fit allocation of [begin, end). Takes no memory of the range itself.
class RangeAllocator {
 public:
  RangeAllocator() = default;
  RangeAllocator(uint64_t begin, uint64_t end) { insert(begin, end - begin); }

  // 0 when no hole is large enough; so the range must not begin at 0.
  uint64_t take(uint64_t bytes) {
    const auto hole = bySize_.lower_bound({bytes, 0});
    if (hole == bySize_.end()) return 0;
    const auto [size, at] = *hole;
    remove(at, size);
    if (size > bytes) insert(at + bytes, size - bytes);
    return at;
  }

  void give(uint64_t at, uint64_t bytes) {
    const auto next = byAddress_.lower_bound(at);
    if (next != byAddress_.begin()) {
      const auto [before, size] = *std::prev(next);
      if (before + size == at) {
        remove(before, size);
        at = before;
        bytes += size;
      }
    }
    const auto after = byAddress_.find(at + bytes);
    if (after != byAddress_.end()) {
      const uint64_t size = after->second;
      remove(at + bytes, size);
      bytes += size;
    }
    insert(at, bytes);
  }

 private:
  void insert(uint64_t at, uint64_t size) {
    byAddress_[at] = size;
    bySize_.insert({size, at});
  }
  void remove(uint64_t at, uint64_t size) {
    byAddress_.erase(at);
    bySize_.erase({size, at});
  }

  std::map<uint64_t, uint64_t> byAddress_;
  std::set<std::pair<uint64_t, uint64_t>> bySize_;
};

}  // namespace gvb::sim
