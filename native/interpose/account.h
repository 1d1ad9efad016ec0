// What counts against the byte limit: of this process, or of all that share a file.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace gvb::interpose {

class Account {
 public:
  // `limit` 0: everything is granted and counted. Throws std::invalid_argument where the file cannot be shared.
  Account(uint64_t limit, const std::string& pool);

  // Held around a call of the driver together with what it counts.
  std::mutex mutex;

  bool take(uint64_t bytes);
  void give(uint64_t bytes);
  // Of a block that was taken, by its address or handle.
  void remember(uint64_t block, uint64_t bytes) { blocks_[block] = bytes; }
  // 0 where it is no block that counts.
  uint64_t forget(uint64_t block);
  void take_context(uint64_t bytes);
  // What this process has goes back to the pool.
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

// Made from the settings at first use.
Account& account();

}  // namespace gvb::interpose
