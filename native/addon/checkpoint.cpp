// Checkpoints of GPU processes: the controller's calls, and what a target holds.
#include "bench/checkpoint.h"

#include "addon/target_fields.h"
#include "addon/topic.h"
#include "bench/checkpoint_target.h"

namespace gvb {

namespace {

const Choices<CheckpointCall> kCheckpointCalls{"CheckpointCall",
                                               {{CheckpointCall::kState, "state"},
                                                {CheckpointCall::kRestoreThread, "restore-thread"},
                                                {CheckpointCall::kLock, "lock"},
                                                {CheckpointCall::kCheckpoint, "checkpoint"},
                                                {CheckpointCall::kRestore, "restore"},
                                                {CheckpointCall::kUnlock, "unlock"}}};

}  // namespace

template <>
struct Fields<CheckpointRequest> : FieldsOf<CheckpointRequest, Target> {
  static constexpr const char* kName = "CheckpointRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(path).one_of(kApplicationPaths));
    visit(GVB_FIELD(pid).above_zero());
    visit(GVB_FIELD(call).one_of(kCheckpointCalls));
    visit(GVB_FIELD(timeout_ms).says("Time limit of `lock`; 0: none. Other calls ignore it."));
  }
};

template <>
struct Fields<CheckpointAnswer> : FieldsOf<CheckpointAnswer> {
  static constexpr const char* kName = "CheckpointAnswer";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(code).says("Result of the call; 0: it succeeded."));
    visit(GVB_FIELD(name).says("The driver's name of the code."));
    visit(GVB_FIELD(called_ns).says("Time on the clock of `now` at which it was called."));
    visit(GVB_FIELD(took_ns));
    visit(GVB_FIELD(state).says("0 running, 1 locked, 2 checkpointed, 3 failed; null if it was not asked for."));
    visit(GVB_FIELD(thread).says("Thread of the process that restores it; null if it was not asked for."));
  }
};

template <>
struct Fields<CheckpointHoldRequest> : FieldsOf<CheckpointHoldRequest> {
  static constexpr const char* kName = "CheckpointHoldRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(bytes).says("Size of all allocations together."));
    visit(GVB_FIELD(allocations).says("Number of allocations."));
  }
};

template <>
struct Fields<CheckpointHold> : FieldsOf<CheckpointHold> {
  static constexpr const char* kName = "CheckpointHold";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(bytes).says("What is held: whole words, in allocations that are not empty."));
    visit(GVB_FIELD(allocations));
  }
};

template <>
struct Fields<CheckpointVerified> : FieldsOf<CheckpointVerified> {
  static constexpr const char* kName = "CheckpointVerified";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(checksums).says("Whether all allocations have the content that they were filled with."));
    visit(GVB_FIELD(addresses).says("Whether every allocation begins where it did and has its size."));
    visit(GVB_FIELD(graph).says("Whether the graph, launched again, writes what it should."));
    visit(GVB_FIELD(stream));
    visit(GVB_FIELD(event));
    visit(GVB_FIELD(first_result_ns).says("Time from the call until the host saw the result of a first kernel."));
  }
};

template <>
struct Fields<CheckpointWorkRequest> : FieldsOf<CheckpointWorkRequest> {
  static constexpr const char* kName = "CheckpointWorkRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(ms).above_zero());
  }
};

template <>
struct Fields<CheckpointWork> : FieldsOf<CheckpointWork> {
  static constexpr const char* kName = "CheckpointWork";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(submitted_ns).says("Time on the clock of `now` at which it was submitted."));
    visit(GVB_FIELD(estimated_ns).says("How long it takes on the device."));
  }
};

namespace {

const Topic checkpoint_topic{
    "Checkpoints",
    {without_session("checkpointCall", call_checkpoint)
         .says("Makes one call of a controller on a process. Initialises the driver and creates no context. A code "
               "that is not 0 is an answer."),
     in_session("checkpointHold", hold_for_checkpoint)
         .says("Allocates memory with random content, a graph, a stream and an event, and holds them until "
               "checkpointRelease. Replaces what an earlier call holds."),
     in_session("checkpointVerify", verify_after_checkpoint)
         .says("Checks all that checkpointHold holds. Rejects if not even a first kernel runs."),
     in_session("checkpointWork", submit_checkpoint_work)
         .says("Submits work of a known length to the held stream and does not wait for it."),
     in_session("checkpointRelease", release_after_checkpoint).says("Waits for the work, and frees what is held.")}};

}  // namespace

}  // namespace gvb
