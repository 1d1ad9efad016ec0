// The record of one call of an exported function (GVB_SIM `record`), from its entry to its return.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "record/call_log.h"
#include "sim/clock.h"
#include "sim/functions.h"

namespace gvb::sim {

// Null where no record is asked for.
extern std::atomic<record::CallLog*> call_log;

// Makes the log of this process, of the given functions or of all; the reason where it cannot be made, else empty.
std::string start_record(const std::string& folder, const std::vector<Function>& functions);

// When the kernels of a launch ran, which is known after the call has returned. Of a graph: from its first node's start
// to its last one's end.
class LateTimes {
 public:
  void add(int64_t begins, int64_t ends);
  void belong_to(record::Call* call);

 private:
  void write();

  std::mutex mutex_;
  record::Call* call_ = nullptr;
  int64_t begins_ = 0;
  int64_t ends_ = 0;
};

class RecordedCall {
 public:
  explicit RecordedCall(Function function) {
    if (__builtin_expect(call_log.load(std::memory_order_relaxed) != nullptr, 0)) enter(function);
  }
  ~RecordedCall() {
    if (__builtin_expect(call_.entered != 0, 0)) leave();
  }
  RecordedCall(const RecordedCall&) = delete;
  RecordedCall& operator=(const RecordedCall&) = delete;

  // What the call that this thread is in allocates, frees or launches. Nothing happens where it is not recorded.
  static void of_bytes(uint64_t bytes);
  // How much of what another process left is in the memory that the call hands out.
  static void of_residue(uint64_t bytes);
  // Null where it is not recorded, else to be told the kernel's times once they are known.
  static std::shared_ptr<LateTimes> of_kernel(const std::string& name);
  // The same of other work of the device.
  static std::shared_ptr<LateTimes> of_device();

 private:
  void enter(Function function);
  void leave();

  record::Call call_{};
  RecordedCall* outer_ = nullptr;
  std::shared_ptr<LateTimes> times_;
};

}  // namespace gvb::sim
