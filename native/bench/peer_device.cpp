#include "bench/peer_device.h"

namespace gvb {

PeerDevice::PeerDevice(DeviceSession& own, const std::string& uuid) : own_(own) {
  DeviceTarget target;
  target.device = uuid;
  target.path = own.cuda.path;
  try {
    session_ = std::make_unique<DeviceSession>(own.driver, target, own.token);
  } catch (...) {
    return_to_own();
    throw;
  }
  return_to_own();
}

PeerDevice::~PeerDevice() {
  make_current();
  session_.reset();
  return_to_own();
}

PeerDevice::Entered::Entered(const PeerDevice& peer) : peer_(peer) {
  GVB_CALL(peer.own_.cuda, "entering the peer's context", cuCtxSetCurrent, peer.context());
}

PeerDevice& KeptPeer::of(DeviceSession& own, const std::string& uuid) {
  if (uuid_ != uuid) {
    peer_.reset();
    uuid_.clear();
    peer_ = std::make_unique<PeerDevice>(own, uuid);
    uuid_ = uuid;
  }
  return *peer_;
}

}  // namespace gvb
