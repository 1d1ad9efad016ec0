// A record, call by call, of what the simulated driver and the calibration interposer did: the reference of the
// accuracy tests. One mapped binary file per process and library, complete however the process ends. Read by
// test/native/record.ts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"

namespace gvb::record {

// Times are CLOCK_MONOTONIC_RAW in ns, one timebase for all processes of a machine.
struct Call {
  int64_t entered;
  int64_t left;
  // For a launch: its first and last instruction on the device timeline. For the interposer's lock: when it was held.
  // For the polling thread: its processor time before and after. For a turn of the simulated card: its begin and end.
  // For an allocation: `begins` is the number of bytes of
  // another process's content that were handed out.
  int64_t begins;
  int64_t ends;
  uint64_t bytes;  // size of the allocated or freed block; for a launch: of its working set, what the L2 cache lacked
  uint32_t function;
  uint32_t thread;
  char kernel[16];  // the name, truncated if longer
};
static_assert(sizeof(Call) == 64);

// How many calls are kept; later ones are only counted.
constexpr uint64_t kMostCalls = 1 << 19;

class CallLog;

struct MadeLog {
  CallLog* log = nullptr;
  std::string why_not;  // the reason if there is none
};

class CallLog {
 public:
  // Creates FOLDER/PID-N.calls. `names` lists the functions by number.
  static MadeLog make(const std::string& folder, const std::vector<const char*>& names);

  // Adds the call to the log; null if it is full. The call counts once it is finished.
  Call* begin(Call call) {
    call.thread = thread();
    call.left = 0;
    const uint64_t place = header_->added.fetch_add(1, std::memory_order_relaxed);
    if (place >= kMostCalls) return nullptr;
    calls_[place] = call;
    return &calls_[place];
  }

  // Sets `left`, after everything else: writing the entry is part of the caller's time too, and slow if its memory is
  // not cached.
  static void finish(Call* call) {
    if (call != nullptr) call->left = now_ns();
  }

  void add(const Call& call) { finish(begin(call)); }

 private:
  struct Header {
    char magic[8];
    uint64_t capacity;
    std::atomic<uint64_t> added;
    uint64_t names_bytes;  // length of the names that follow, each ended by a newline
    uint64_t calls_at;     // offset of the first call
    double reading_ns;     // median cost of one reading of the clock in this process
  };

  CallLog(Header* header, Call* calls) : header_(header), calls_(calls) {}
  static uint32_t thread();

  Header* header_;
  Call* calls_;
};

}  // namespace gvb::record
