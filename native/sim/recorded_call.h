// Records one call of an exported function (GVB_SIM `record`), from its entry to its return.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "record/call_log.h"
#include "sim/clock.h"
#include "sim/functions.h"

namespace gvb::sim {

// Null if nothing is recorded.
extern std::atomic<record::CallLog*> call_log;

// Creates the log of this process, for the given functions or for all. Returns the reason if that fails, else an empty
// text.
std::string start_record(const std::string& folder, const std::vector<Function>& functions);

// When the kernels of a launch ran, known only after the call has returned. For a graph: from its first node's start to
// its last one's end.
class LateTimes {
 public:
  // `missed`: bytes of its working set that a kernel did not find in the L2 cache.
  void add(int64_t begins, int64_t ends, double missed = 0);
  void belong_to(record::Call* call);

 private:
  void write();

  std::mutex mutex_;
  record::Call* call_ = nullptr;
  int64_t begins_ = 0;
  int64_t ends_ = 0;
  double missed_ = 0;
};

// A turn of a party on a card that is over. The record lists it after the functions' calls, as `turn`: its begin and
// end, the party as its bytes, the card as its kernel. A record of named functions has none.
struct RecordedTurn {
  int place;
  int party;
  int64_t begins, ends;
};
void record_turn(const RecordedTurn& turn);

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

  // What the current thread's call allocates, frees or launches. Does nothing if the call is not recorded.
  static void of_bytes(uint64_t bytes);
  // How many bytes of another process the memory that the call hands out contains.
  static void of_residue(uint64_t bytes);
  // Receives the kernel's times once they are known; null if the call is not recorded.
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
