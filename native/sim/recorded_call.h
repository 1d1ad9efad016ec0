// The record of one call of an exported function (GVB_SIM `record`), from its entry to its return.
#pragma once

#include <string>
#include <vector>

#include "record/call_log.h"
#include "sim/clock.h"
#include "sim/functions.h"

namespace gvb::sim {

// Null where no record is asked for.
extern std::atomic<record::CallLog*> callLog;

// Makes the log of this process, of the given functions or of all; the reason where it cannot be made, else empty.
std::string startRecord(const std::string& folder, const std::vector<Function>& functions);

class RecordedCall {
 public:
  explicit RecordedCall(Function function) {
    if (__builtin_expect(callLog.load(std::memory_order_relaxed) != nullptr, 0)) enter(function);
  }
  ~RecordedCall() {
    if (__builtin_expect(call_.entered != 0, 0)) leave();
  }
  RecordedCall(const RecordedCall&) = delete;
  RecordedCall& operator=(const RecordedCall&) = delete;

  // What the call that this thread is in allocates, frees or launches. Nothing happens where it is not recorded.
  static void ofBytes(uint64_t bytes);
  static void ofKernel(const char* name, int64_t begins, int64_t ends);

 private:
  void enter(Function function);
  void leave();

  record::Call call_{};
  RecordedCall* outer_ = nullptr;
};

}  // namespace gvb::sim
