// Ranks of a communicator, their collectives, and how their GPUs are connected.
#include "bench/nccl/ranks.h"

#include "addon/topic.h"
#include "bench/gpu_link.h"
#include "bench/nccl/collectives.h"

namespace gvb {

namespace {

const Choices<Collective> kCollectives{"Collective",
                                       {{Collective::kAllReduce, "ncclAllReduce"},
                                        {Collective::kAllGather, "ncclAllGather"},
                                        {Collective::kBroadcast, "ncclBroadcast"}}};

const Choices<Connection> kConnections{"Connection",
                                       {{Connection::kNvLink, "NVLink"},
                                        {Connection::kBoard, "one board"},
                                        {Connection::kPix, "PIX"},
                                        {Connection::kPxb, "PXB"},
                                        {Connection::kPhb, "PHB"},
                                        {Connection::kNode, "NODE"},
                                        {Connection::kSys, "SYS"}}};

}  // namespace

template <>
struct Fields<CommunicatorId> : FieldsOf<CommunicatorId> {
  static constexpr const char* kName = "CommunicatorId";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(unsupported).or_null().says("Why there is no NCCL; then nothing follows."));
    visit(GVB_FIELD(library).says("The file."));
    visit(GVB_FIELD(version));
    visit(GVB_FIELD(id).says("In hexadecimal, for every rank."));
    visit(GVB_FIELD(failure).or_null().says("Error of NCCL."));
  }
};

template <>
struct Fields<JoinRequest> : FieldsOf<JoinRequest> {
  static constexpr const char* kName = "JoinRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(id).says("Result of makeCommunicatorId."));
    visit(GVB_FIELD(ranks).above_zero());
    visit(GVB_FIELD(rank));
  }
};

template <>
struct Fields<Joined> : FieldsOf<Joined> {
  static constexpr const char* kName = "Joined";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(failure).or_null().says("Error of NCCL."));
  }
};

template <>
struct Fields<CollectivesRequest> : FieldsOf<CollectivesRequest> {
  static constexpr const char* kName = "CollectivesRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(collective).one_of(kCollectives));
    visit(GVB_FIELD(ranks).above_zero());
    visit(GVB_FIELD(rank));
    visit(GVB_FIELD(root).says("Rank that sends, in a broadcast."));
    visit(GVB_FIELD(bytes).says("Size of a result on each rank: whole words of 4 bytes of every rank.").above_zero());
    visit(GVB_FIELD(operations).says("Operations of a burst, each with a result of its own.").above_zero());
    visit(GVB_FIELD(bursts));
    visit(GVB_FIELD(warmup).says("Bursts before them."));
    visit(GVB_FIELD(seed).says("Seed of what is sent, the same on all ranks."));
  }
};

template <>
struct Fields<CollectiveTimes> : FieldsOf<CollectiveTimes> {
  static constexpr const char* kName = "CollectiveTimes";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(failure).or_null().says("Error of NCCL."));
    visit(GVB_FIELD(host_ns).as_array().says(
        "Duration of each burst, from a meeting of all ranks until this one knew that its last collective was over."));
    visit(GVB_FIELD(device_ns).as_array().says("Between events around its collectives."));
    visit(GVB_FIELD(words).says("Words of the results of all bursts."));
    visit(GVB_FIELD(wrong).says("Words that are not what they must be."));
  }
};

template <>
struct Fields<GpuLinkRequest> : FieldsOf<GpuLinkRequest> {
  static constexpr const char* kName = "GpuLinkRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(peer).says("UUID of the other GPU."));
  }
};

template <>
struct Fields<GpuLink> : FieldsOf<GpuLink> {
  static constexpr const char* kName = "GpuLink";
  static constexpr const char* kDoc = "Link to another GPU, as NVML reports it; null where it does not.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(connection).one_of(kConnections).says("What is between the two, as nvidia-smi abbreviates it."));
    visit(GVB_FIELD(peer_nvlinks).says("Active NVLinks to the peer, or to the switch between them."));
    visit(GVB_FIELD(nvlinks).says("All active ones of this GPU."));
    visit(GVB_FIELD(nvlink_mbs).says("MB/s of an NVLink in one direction."));
    visit(GVB_FIELD(pcie_generation)
              .says("Highest generation of this GPU and its slot together; `pcieWidth` is their width."));
    visit(GVB_FIELD(pcie_width));
  }
};

namespace {

const Topic ranks_topic{
    "Several GPUs",
    {in_session("makeCommunicatorId", make_communicator_id)
         .says("The unique id of a new NCCL communicator; the process stays until its ranks have joined."),
     in_session("joinRanks", join_ranks)
         .says("Makes the session's GPU a rank of a communicator; resolves when all ranks have joined, which may be "
               "never."),
     in_session("leaveRanks", leave_ranks).says("Ends the session's communicator; asked of all ranks."),
     in_session("collectives", run_collectives)
         .says(
             "How long bursts of a collective take, with every result verified; asked of all ranks at the same time."),
     in_session("gpuLink", read_gpu_link).says("How the session's GPU is connected with another one.")}};

}  // namespace

}  // namespace gvb
