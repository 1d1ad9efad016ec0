#include "bench/peer_copies.h"

#include "bench/copy_sample.h"
#include "bench/ipc_handle.h"
#include "bench/peer_device.h"

namespace gvb {

using abi::CUcontext;
using abi::CUdeviceptr;

namespace {

// Memory of one of the two GPUs; freed in the context that it belongs to.
struct Place {
  CUdeviceptr address;
  CUcontext context;
};

void copy_between(const Cuda& cuda, const Place& to, const Place& from, size_t bytes, abi::CUstream stream) {
  GVB_CALL(cuda, "copying to another GPU", cuMemcpyPeerAsync, to.address, to.context, from.address, from.context, bytes,
           stream);
}

// What a GPU has for copies: memory, and kernels that write and check it. Used in that GPU's context.
class Side {
 public:
  Side(DeviceSession& session, size_t bytes)
      : cuda_(session.cuda),
        context_(session.context.get()),
        bytes_(bytes),
        memory_(make_memory(session.cuda, bytes)),
        stream_(make_stream(session.cuda)),
        writer_(session, stream_.get()),
        arrived_(session, stream_.get()) {}

  Place at(size_t offset = 0) const { return {memory_.get() + offset, context_}; }
  void write(const CopyPattern& pattern) const {
    writer_.write(memory_.get(), pattern, bytes_);
    GVB_CALL(cuda_, "writing a pattern", cuStreamSynchronize, stream_.get());
  }
  void check(const CopyPattern& pattern, const char* copy) const {
    arrived_.check(memory_.get(), pattern, bytes_, copy);
  }
  uint64_t wrong_words(const CopyPattern& pattern) const {
    return arrived_.wrong_words(memory_.get(), pattern, bytes_);
  }

 private:
  const Cuda& cuda_;
  const CUcontext context_;
  const size_t bytes_;
  const DeviceMemory memory_;
  const Stream stream_;
  const PatternWriter writer_;
  const ArrivalCheck arrived_;
};

// A side of the peer: everything is done in its context.
class PeerSide {
 public:
  PeerSide(const PeerDevice& peer, size_t bytes) : peer_(peer) {
    const PeerDevice::Entered entered(peer);
    side_ = std::make_unique<Side>(peer.session(), bytes);
  }
  ~PeerSide() {
    peer_.make_current();
    side_.reset();
    peer_.return_to_own();
  }
  PeerSide(const PeerSide&) = delete;
  PeerSide& operator=(const PeerSide&) = delete;

  Place at(size_t offset = 0) const { return side_->at(offset); }
  void write(const CopyPattern& pattern) const {
    const PeerDevice::Entered entered(peer_);
    side_->write(pattern);
  }
  void check(const CopyPattern& pattern, const char* copy) const {
    const PeerDevice::Entered entered(peer_);
    side_->check(pattern, copy);
  }

 private:
  const PeerDevice& peer_;
  std::unique_ptr<Side> side_;
};

// From one side to the other, on a stream of the session's GPU.
template <class Source, class Target>
class PeerCopy : public CopySample {
 public:
  PeerCopy(DeviceSession& session, const PeerCopiesRequest& request, std::unique_ptr<Source> source,
           std::unique_ptr<Target> target)
      : CopySample(session.cuda, {request.bytes, request.seed}),
        source_(std::move(source)),
        target_(std::move(target)) {
    source_->write(pattern_);
  }
  void queue() override { copy_between(cuda_, target_->at(), source_->at(offset()), bytes_, stream()); }
  void check(size_t) override { target_->check(pattern_.from(first_), "A copy to another GPU"); }

 private:
  const std::unique_ptr<Source> source_;
  const std::unique_ptr<Target> target_;
};

class PeerLoads : public CopySample {
 public:
  PeerLoads(DeviceSession& session, const PeerDevice& peer, const PeerCopiesRequest& request)
      : CopySample(session.cuda, {request.bytes, request.seed}),
        source_(peer, request.bytes + CopyPattern::kSpareBytes),
        reader_(session, stream()) {
    source_.write(pattern_);
  }
  void prepare() override {
    CopySample::prepare();
    reader_.clear();
  }
  void queue() override { reader_.launch(source_.at(offset()).address, pattern_.from(first_), bytes_); }
  void check(size_t) override {
    if (const uint64_t wrong = reader_.wrong_of(bytes_))
      fail_not_copied("A kernel that reads another GPU's memory", wrong, bytes_ / sizeof(uint32_t));
  }

 private:
  const PeerSide source_;
  const ArrivalCheck reader_;
};

// To memory of another process, which this GPU reads again.
class OfferedCopy : public CopySample {
 public:
  OfferedCopy(DeviceSession& session, const OfferedCopiesRequest& request)
      : CopySample(session.cuda, {request.bytes, request.seed}),
        source_(session, request.bytes + CopyPattern::kSpareBytes),
        target_(open(session.cuda, request.handle)),
        reader_(session, stream()) {
    source_.write(pattern_);
  }
  ~OfferedCopy() override { cuda_.try_call(cuda_.api.cuIpcCloseMemHandle, target_); }
  void queue() override {
    GVB_CALL(cuda_, "copying to another process", cuMemcpyDtoDAsync_v2, target_, source_.at(offset()).address, bytes_,
             stream());
  }
  void check(size_t) override {
    reader_.check(target_, pattern_.from(first_), bytes_, "A copy to another process's GPU");
  }
  uint64_t last_seed() const { return pattern_.from(first_).seed(); }

 private:
  static CUdeviceptr open(const Cuda& cuda, const std::string& handle) {
    CUdeviceptr address = 0;
    GVB_CALL(cuda, "opening memory of another process", cuIpcOpenMemHandle_v2, &address, ipc_handle(handle),
             abi::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    return address;
  }

  const Side source_;
  const CUdeviceptr target_;
  const ArrivalCheck reader_;
};

// Without access copies go through the host.
void enable_access(const DeviceSession& own, const PeerDevice& peer) {
  const auto code = own.cuda.require(own.cuda.api.cuCtxEnablePeerAccess, "cuCtxEnablePeerAccess")(peer.context(), 0);
  if (code == abi::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) return;
  own.cuda.check(code, "cuCtxEnablePeerAccess", "reaching another GPU's memory");
}

abi::CUdevice peer_of(const DeviceSession& session, const std::string& uuid) {
  return find_device(session.driver, session.cuda, uuid);
}

bool can_access(const DeviceSession& session, abi::CUdevice peer) {
  int can = 0;
  GVB_CALL(session.cuda, "asking for access to another GPU", cuDeviceCanAccessPeer, &can, session.device, peer);
  return can != 0;
}

std::unique_ptr<CopySample> peer_sample(DeviceSession& session, const PeerDevice& peer,
                                        const PeerCopiesRequest& request) {
  const size_t bytes = request.bytes, spare = bytes + CopyPattern::kSpareBytes;
  const auto there = [&] {
    return std::make_unique<PeerCopy<Side, PeerSide>>(session, request, std::make_unique<Side>(session, spare),
                                                      std::make_unique<PeerSide>(peer, bytes));
  };
  const auto back = [&] {
    return std::make_unique<PeerCopy<PeerSide, Side>>(session, request, std::make_unique<PeerSide>(peer, spare),
                                                      std::make_unique<Side>(session, bytes));
  };
  switch (request.way) {
    case PeerWay::kCopy:
      return there();
    case PeerWay::kBoth:
      return std::make_unique<AtOnce>(session.cuda, there(), back());
    case PeerWay::kLoads:
      return std::make_unique<PeerLoads>(session, peer, request);
  }
  return nullptr;
}

// Kept in the session.
struct Offer {
  explicit Offer(const DeviceSession&) {}
  std::unique_ptr<Side> side;
  size_t bytes = 0;
};

}  // namespace

PeerAccess read_peer_access(DeviceSession& session, const PeerRequest& request) {
  PeerAccess access;
  const abi::CUdevice peer = peer_of(session, request.peer);
  access.can_access = can_access(session, peer);
  const auto attribute = [&](abi::CUdevice_P2PAttribute which) -> std::optional<int> {
    int value = 0;
    const auto ask = session.cuda.api.cuDeviceGetP2PAttribute;
    if (!ask || ask(&value, which, session.device, peer) != abi::CUDA_SUCCESS) return std::nullopt;
    return value;
  };
  access.performance_rank = attribute(abi::CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK);
  access.native_atomics = attribute(abi::CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED);
  return access;
}

PeerCopies measure_peer_copies(DeviceSession& session, const PeerCopiesRequest& request) {
  const PeerDevice& peer = session.kept<KeptPeer>().of(session, request.peer);
  if (request.way == PeerWay::kLoads || can_access(session, peer.session().device)) enable_access(session, peer);
  const auto sample = peer_sample(session, peer, request);
  return {time_copies(session, *sample, {request.warmup, request.count})};
}

OfferedMemory offer_memory(DeviceSession& session, const OfferRequest& request) {
  Offer& offer = session.kept<Offer>();
  offer.side.reset();
  offer.bytes = request.bytes;
  if (request.bytes == 0) return {};
  offer.side = std::make_unique<Side>(session, request.bytes);
  abi::CUipcMemHandle handle{};
  GVB_CALL(session.cuda, "sharing memory", cuIpcGetMemHandle, &handle, offer.side->at().address);
  return {ipc_handle_text(handle)};
}

OfferedCopies copy_to_offered(DeviceSession& session, const OfferedCopiesRequest& request) {
  OfferedCopy sample(session, request);
  OfferedCopies copies;
  copies.device_ns = time_copies(session, sample, {request.warmup, request.count});
  copies.last_seed = sample.last_seed();
  return copies;
}

OfferedCheck check_offered(DeviceSession& session, const OfferedCheckRequest& request) {
  const Offer& offer = session.kept<Offer>();
  if (!offer.side) throw Failure(FailureKind::kInvalidResult, "memory was to be checked before it was offered.");
  return {offer.bytes / sizeof(uint32_t), offer.side->wrong_words(CopyPattern(request.seed))};
}

}  // namespace gvb
