// Maps the device's %globaltimer to host time by ping-pong over a mapped flag, before and after a block.
//
// Each exchange brackets a device reading between two host readings; the tightest brackets of both ends are fitted
// with a line, because the two clocks drift by several ppm (8 ppm on an H200 against CLOCK_MONOTONIC_RAW: 2 us over a
// quarter of a second). The device reads its clock somewhere inside the bracket, so a constant bias of up to half of it
// remains; it cancels in differences.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/device_session.h"
#include "bench/mapped_places.h"

namespace gvb {

// The kernel that answers, and its memory.
class ClockEcho {
 public:
  static constexpr unsigned kExchanges = 64;

  struct Exchange {
    int64_t host;  // middle of the bracket
    int64_t device;
    int64_t bracket;
  };

  explicit ClockEcho(const DeviceSession& session);
  void move() { page_.move(); }
  std::vector<Exchange> exchange();
  double tick_ns() const { return tick_ns_; }

 private:
  double measure_tick(abi::CUfunction steps);
  uint64_t reply(unsigned index) const;

  const Cuda& cuda_;
  const Stream stream_;
  MappedPlaces page_;
  const abi::CUfunction echo_;
  const double tick_ns_;
};

// A reading of %globaltimer.
struct DeviceTime {
  uint64_t ns;
};

struct MappingQuality {
  double residual_ns = 0;  // root mean square error of the tightest exchanges
  double bracket_ns = 0;   // the tightest round trip of the worse end
  double drift_ppm = 0;
  double tick_ns = 0;
};

class ClockMapping {
 public:
  explicit ClockMapping(DeviceSession& session) : echo_(session.kept<ClockEcho>()) { echo_.move(); }

  // One end of the block to be mapped: call it before and after. Repeats its series on a busy host.
  void exchange();
  void fit();

  // Host time of a device reading, relative to the host reading `origin`, in ns.
  double since(int64_t origin, DeviceTime device) const;

  const MappingQuality& quality() const { return quality_; }

 private:
  using Exchange = ClockEcho::Exchange;
  static std::vector<Exchange> tightest(std::vector<Exchange> exchanges);

  ClockEcho& echo_;
  std::vector<std::vector<Exchange>> ends_;
  int64_t host_origin_ = 0;
  int64_t device_origin_ = 0;
  double offset_ = 0;
  double drift_ = 0;
  MappingQuality quality_;
};

}  // namespace gvb
