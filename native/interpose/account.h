// Counts memory against the byte limit: that of this process, or of all processes that share a file.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace gvb::interpose {

class Account {
 public:
  // `limit` 0: everything is granted and counted. Throws std::invalid_argument if the file cannot be shared.
  Account(uint64_t limit, const std::string& pool);

  // Held during a driver call and the counting that belongs to it.
  std::mutex mutex;

  bool take(uint64_t bytes);
  void give(uint64_t bytes);
  // Remembers the bytes of a granted block by its address or handle.
  void remember(uint64_t block, uint64_t bytes) { blocks_[block] = bytes; }
  // Returns 0 if the block is not counted.
  uint64_t forget(uint64_t block);
  void take_context(uint64_t bytes);
  // Returns this process's share to the pool.
  void leave();

  uint64_t used() const { return used_->load(); }
  size_t blocks() const { return blocks_.size(); }

 private:
  const uint64_t limit_;
  std::atomic<uint64_t> of_process_{0};
  std::atomic<uint64_t>* used_ = &of_process_;
  std::atomic<uint64_t> own_{0};
  bool context_ = false;
  std::unordered_map<uint64_t, uint64_t> blocks_;
};

// Created from the settings at first use.
Account& account();

}  // namespace gvb::interpose
