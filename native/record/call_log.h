// What the simulated driver and the calibration interposer did, call by call: the reference of the accuracy tests. One
// binary file per process and library, mapped, so that it is complete however the process ends. Read by
// test/native/record.ts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"

namespace gvb::record {

// Times are CLOCK_MONOTONIC_RAW in ns, which is one timebase for all processes of a machine.
struct Call {
  int64_t entered;
  int64_t left;
  // Of a launch: its first and last instruction on the device timeline. Behind the interposer's lock: when it was held.
  // Of the polling thread: its processor time before and after. Of an allocation: `begins` is how many bytes of another
  // process's content were handed out.
  int64_t begins;
  int64_t ends;
  uint64_t bytes;  // of the block that was allocated or freed
  uint32_t function;
  uint32_t thread;
  char kernel[16];  // the name, cut off where it is longer
};
static_assert(sizeof(Call) == 64);

// The number of calls that are kept; later ones are only counted.
constexpr uint64_t kMostCalls = 1 << 19;

class CallLog;

struct MadeLog {
  CallLog* log = nullptr;
  std::string why_not;  // where there is none
};

class CallLog {
 public:
  // Makes FOLDER/PID-N.calls. `names` are of the functions by number.
  static MadeLog make(const std::string& folder, const std::vector<const char*>& names);

  // Puts the call into the log; null where there is no room for it. It counts once it is finished.
  Call* begin(Call call) {
    call.thread = thread();
    call.left = 0;
    const uint64_t place = header_->added.fetch_add(1, std::memory_order_relaxed);
    if (place >= kMostCalls) return nullptr;
    calls_[place] = call;
    return &calls_[place];
  }

  // Sets `left`, last of all: the caller waits for the writing of the entry too, which is slow where its memory is not
  // cached.
  static void finish(Call* call) {
    if (call != nullptr) call->left = now_ns();
  }

  void add(const Call& call) { finish(begin(call)); }

 private:
  struct Header {
    char magic[8];
    uint64_t capacity;
    std::atomic<uint64_t> added;
    uint64_t names_bytes;  // of the names that follow, each ended by a newline
    uint64_t calls_at;     // offset of the first call
    double reading_ns;     // median cost of one reading of the clock in this process
  };

  CallLog(Header* header, Call* calls) : header_(header), calls_(calls) {}
  static uint32_t thread();

  Header* header_;
  Call* calls_;
};

}  // namespace gvb::record
