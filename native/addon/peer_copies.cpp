// Copies between GPUs.
#include "bench/peer_copies.h"

#include "addon/topic.h"

namespace gvb {

namespace {

const Choices<PeerWay> kPeerWays{"PeerWay",
                                 {{PeerWay::kCopy, "cuMemcpyPeerAsync"},
                                  {PeerWay::kBoth, "both directions at once"},
                                  {PeerWay::kLoads, "loads of a kernel"}}};

}  // namespace

template <>
struct Fields<PeerRequest> : FieldsOf<PeerRequest> {
  static constexpr const char* kName = "PeerRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(peer).says("UUID of the other GPU."));
  }
};

template <>
struct Fields<PeerAccess> : FieldsOf<PeerAccess> {
  static constexpr const char* kName = "PeerAccess";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(can_access).says("Result of cuDeviceCanAccessPeer."));
    visit(
        GVB_FIELD(performance_rank)
            .says("Rank by cuDeviceGetP2PAttribute, which also gives the next: 0 is the fastest; null: not reported."));
    visit(GVB_FIELD(native_atomics));
  }
};

template <>
struct Fields<PeerCopiesRequest> : FieldsOf<PeerCopiesRequest> {
  static constexpr const char* kName = "PeerCopiesRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(peer).says("UUID of the other GPU."));
    visit(GVB_FIELD(way).one_of(kPeerWays));
    visit(GVB_FIELD(bytes).says("Size of a copy: a multiple of 4.").above_zero());
    visit(GVB_FIELD(count));
    visit(GVB_FIELD(warmup));
    visit(GVB_FIELD(seed).says("Seed of what is copied."));
  }
};

template <>
struct Fields<PeerCopies> : FieldsOf<PeerCopies> {
  static constexpr const char* kName = "PeerCopies";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(device_ns).as_array().says("Duration of each sample, by events of the session's GPU."));
  }
};

template <>
struct Fields<OfferRequest> : FieldsOf<OfferRequest> {
  static constexpr const char* kName = "OfferRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(bytes).says("A multiple of 4; 0: nothing is offered any more."));
  }
};

template <>
struct Fields<OfferedMemory> : FieldsOf<OfferedMemory> {
  static constexpr const char* kName = "OfferedMemory";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(handle).says("Handle of cuIpcGetMemHandle, in hexadecimal."));
  }
};

template <>
struct Fields<OfferedCopiesRequest> : FieldsOf<OfferedCopiesRequest> {
  static constexpr const char* kName = "OfferedCopiesRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(handle).says("Result of offerMemory in another process, on another GPU."));
    visit(GVB_FIELD(bytes).says("Size of a copy: what was offered.").above_zero());
    visit(GVB_FIELD(count));
    visit(GVB_FIELD(warmup));
    visit(GVB_FIELD(seed).says("Seed of what is copied."));
  }
};

template <>
struct Fields<OfferedCopies> : FieldsOf<OfferedCopies> {
  static constexpr const char* kName = "OfferedCopies";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(device_ns).as_array().says("Duration of each sample, by events of the session's GPU."));
    visit(GVB_FIELD(last_seed).says("Seed of what the last copy left there."));
  }
};

template <>
struct Fields<OfferedCheckRequest> : FieldsOf<OfferedCheckRequest> {
  static constexpr const char* kName = "OfferedCheckRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(seed).says("Seed of what has to be there."));
  }
};

template <>
struct Fields<OfferedCheck> : FieldsOf<OfferedCheck> {
  static constexpr const char* kName = "OfferedCheck";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(words).says("Words of the offered memory."));
    visit(GVB_FIELD(wrong).says("Words that are something else."));
  }
};

namespace {

const Topic peer_copies_topic{
    "Copies between GPUs",
    {in_session("peerAccess", read_peer_access).says("Whether the session's GPU can reach another one's memory."),
     in_session("peerCopies", measure_peer_copies)
         .says("Copies from the session's GPU to another one in the same process, each verified."),
     in_session("offerMemory", offer_memory).says("Memory that other processes can copy to."),
     in_session("copyToOffered", copy_to_offered).says("Copies to memory of another process, each verified."),
     in_session("checkOffered", check_offered).says("What other processes left in the offered memory.")}};

}  // namespace

}  // namespace gvb
