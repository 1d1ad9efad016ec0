#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace gvb::sim {

// A handle holds kind, generation and index, never an address: garbage, stale handles and handles of another kind are
// recognised without following them, and a look-up takes no lock.
template <class T, unsigned Kind>
class HandleTable {
 public:
  uint64_t insert(std::unique_ptr<T> object) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (free_.empty() && !grow()) return 0;
    const uint32_t index = free_.back();
    free_.pop_back();
    Entry& entry = entry_at(index);
    const uint32_t generation = entry.generation.load(std::memory_order_relaxed) + 1;
    entry.object.store(object.release(), std::memory_order_relaxed);
    entry.generation.store(generation, std::memory_order_release);
    return (static_cast<uint64_t>(Kind) << 56) | (static_cast<uint64_t>(generation) << kIndexBits) | index;
  }

  T* find(uint64_t handle) const {
    const Entry* entry = entry_of(handle);
    if (entry == nullptr || entry->generation.load(std::memory_order_acquire) != generation_of(handle)) return nullptr;
    return entry->object.load(std::memory_order_relaxed);
  }

  std::unique_ptr<T> remove(uint64_t handle) {
    Entry* entry = const_cast<Entry*>(entry_of(handle));
    uint32_t generation = generation_of(handle);
    if (entry == nullptr || !entry->generation.compare_exchange_strong(generation, generation + 1)) return nullptr;
    std::unique_ptr<T> object(entry->object.exchange(nullptr));
    std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(static_cast<uint32_t>(handle & (kEntries - 1)));
    return object;
  }

 private:
  static constexpr unsigned kIndexBits = 20;
  static constexpr uint32_t kEntries = 1u << kIndexBits;
  static constexpr uint32_t kChunk = 1024;

  struct Entry {
    std::atomic<uint32_t> generation{0};  // odd while alive
    std::atomic<T*> object{nullptr};
  };

  static uint32_t generation_of(uint64_t handle) { return static_cast<uint32_t>(handle >> kIndexBits); }

  Entry& entry_at(uint32_t index) const {
    return chunks_[index / kChunk].load(std::memory_order_acquire)[index % kChunk];
  }

  const Entry* entry_of(uint64_t handle) const {
    if (handle >> 56 != Kind || generation_of(handle) % 2 == 0) return nullptr;
    const uint32_t index = static_cast<uint32_t>(handle & (kEntries - 1));
    const Entry* chunk = chunks_[index / kChunk].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : chunk + index % kChunk;
  }

  bool grow() {
    if (chunk_count_ == kEntries / kChunk) return false;
    const uint32_t first = chunk_count_ * kChunk;
    chunks_[chunk_count_++].store(new Entry[kChunk], std::memory_order_release);
    for (uint32_t i = kChunk; i > 0; --i) free_.push_back(first + i - 1);
    return true;
  }

  std::mutex mutex_;
  std::vector<uint32_t> free_;
  uint32_t chunk_count_ = 0;
  std::atomic<Entry*> chunks_[kEntries / kChunk] = {};
};

}  // namespace gvb::sim
