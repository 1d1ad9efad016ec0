// Another GPU in the same process: its context beside the session's own, which stays the thread's current one.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bench/device_session.h"

namespace gvb {

class PeerDevice {
 public:
  // `uuid`: the peer's. Throws kNoSuchDevice where the process does not see it.
  PeerDevice(DeviceSession& own, const std::string& uuid);
  ~PeerDevice();
  PeerDevice(const PeerDevice&) = delete;
  PeerDevice& operator=(const PeerDevice&) = delete;

  DeviceSession& session() const { return *session_; }
  abi::CUcontext context() const { return session_->context.get(); }

  // For clean-up, without errors.
  void make_current() const { own_.cuda.try_call(own_.cuda.api.cuCtxSetCurrent, context()); }
  void return_to_own() const { own_.cuda.try_call(own_.cuda.api.cuCtxSetCurrent, own_.context.get()); }

  // Makes the peer's context the current one while it lives.
  class Entered {
   public:
    explicit Entered(const PeerDevice& peer);
    ~Entered() { peer_.return_to_own(); }
    Entered(const Entered&) = delete;
    Entered& operator=(const Entered&) = delete;

   private:
    const PeerDevice& peer_;
  };

 private:
  DeviceSession& own_;
  std::unique_ptr<DeviceSession> session_;
};

// The peer that the session used last, kept because a context takes long to create. Kept as kept<KeptPeer>().
class KeptPeer {
 public:
  explicit KeptPeer(const DeviceSession&) {}
  PeerDevice& of(DeviceSession& own, const std::string& uuid);

 private:
  std::string uuid_;
  std::unique_ptr<PeerDevice> peer_;
};

}  // namespace gvb
