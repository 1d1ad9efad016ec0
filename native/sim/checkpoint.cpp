// Checkpoints of processes, as their controllers call for them. The controller waits and keeps the rules; what happens
// in the target's memory is done there (checkpoint_target.cpp).
#include <unistd.h>

#include <csignal>

#include "sim/card/region.h"
#include "sim/card/region_state.h"
#include "sim/clock.h"
#include "sim/driver.h"
#include "sim/exports.h"

namespace gvb::sim {
namespace {

using abi::CUresult;

constexpr int64_t kPollNs = 200'000;
constexpr int64_t kLookAgain = 20'000'000;

// A process that has had a context, as one controller's call sees it.
class Controlled {
 public:
  explicit Controlled(int pid) : pid_(pid), participant_(region().user_of(pid)) {}

  bool is_target() const { return participant_ >= 0 && its().thread.load() != 0; }
  bool is_known() const { return participant_ >= 0; }
  // As drivers answer (580.159): no process has the PID, it has not called cuInit, or it has no context, which here is
  // no target.
  CUresult why_no_target() const {
    if (is_known()) return abi::CUDA_ERROR_INVALID_VALUE;
    return start_time_of(pid_) == 0 ? abi::CUDA_ERROR_OPERATING_SYSTEM : abi::CUDA_ERROR_NOT_INITIALIZED;
  }
  Checkpointing& its() const { return region().checkpointing(participant_); }
  bool is_alive() const { return region().user_of(pid_) == participant_; }

  // Whether this process may control the target now. One that another controller left in the middle of a call is out of
  // step for ever or, by default, as soon as it has done what it was asked.
  bool begin() const {
    const int own = getpid();
    int other = 0;
    if (its().controller.compare_exchange_strong(other, own)) return true;
    if (settings().checkpoint_condemns != 0 || start_time_of(other) != 0) return false;
    return its().controller.compare_exchange_strong(other, own) && has_answered();
  }
  void end() const { its().controller.store(0); }

  CUresult lock(int64_t limit_ns) const {
    const int64_t began = raw_now();
    if (region().is_joined(participant_)) return abi::CUDA_ERROR_NOT_SUPPORTED;
    const HostCost cost(settings().checkpoint_lock_us * 1e3);
    its().closed.store(1);
    if (settings().checkpoint_kills != 0) {
      kill(pid_, SIGSEGV);
      while (is_alive()) sleep_for(kPollNs);
    }
    int64_t looked = began;
    while (settings().checkpoint_hangs != 0 || its().inside.load() > 0 || region().has_work(participant_)) {
      if (raw_now() - looked > kLookAgain) {
        if (!is_alive()) return abi::CUDA_ERROR_UNKNOWN;
        looked = raw_now();
      }
      if (settings().checkpoint_hangs == 0 && limit_ns > 0 && raw_now() - began >= limit_ns) {
        open();
        return abi::CUDA_ERROR_NOT_READY;
      }
      sleep_for(kPollNs);
    }
    if (!is_alive()) return abi::CUDA_ERROR_UNKNOWN;
    its().state.store(abi::CU_PROCESS_STATE_LOCKED);
    return abi::CUDA_SUCCESS;
  }

  CUresult checkpoint() const {
    if (region().on_instance(participant_)) return abi::CUDA_ERROR_OUT_OF_MEMORY;
    const HostCost cost(cost_of(settings().checkpoint_fixed_us, settings().checkpoint_us_per_mib));
    return ask(CheckpointStep::kCheckpoint);
  }

  CUresult restore() const {
    const HostCost cost(cost_of(settings().restore_fixed_us, settings().restore_us_per_mib));
    return ask(CheckpointStep::kRestore);
  }

  CUresult unlock() const {
    const HostCost cost(settings().unlock_us * 1e3);
    its().state.store(abi::CU_PROCESS_STATE_RUNNING);
    open();
    return abi::CUDA_SUCCESS;
  }

 private:
  void open() const {
    its().closed.store(0);
    wake_all(its().closed);
  }

  // Waits for the last answer; false if the target is gone.
  bool has_answered() const {
    Checkpointing& target = its();
    while (target.answered.load() != target.asked.load()) {
      if (!is_alive()) return false;
      wait_on(target.answered, target.asked.load() - 1, kLookAgain);
    }
    return true;
  }

  // Notes what the call moves, and returns what it costs.
  double cost_of(double fixed_us, double us_per_mib) const {
    const int64_t bytes = region().allocated(participant_);
    RecordedCall::of_bytes(static_cast<uint64_t>(bytes));
    return 1e3 * (fixed_us + us_per_mib * static_cast<double>(bytes) / static_cast<double>(kMiB));
  }

  CUresult ask(CheckpointStep step) const {
    Checkpointing& target = its();
    target.step = step;
    target.asked.fetch_add(1);
    wake_all(target.asked);
    return has_answered() ? target.code : abi::CUDA_ERROR_UNKNOWN;
  }

  const int pid_;
  const int participant_;
};

// Only one controller at a time changes a process.
template <class Step>
CUresult control(int pid, abi::CUprocessState from, const Step& step) {
  const Controlled controlled(pid);
  if (!controlled.is_target()) return controlled.why_no_target();
  if (!controlled.begin()) return abi::CUDA_ERROR_ILLEGAL_STATE;
  const CUresult code = controlled.its().now() == from ? step(controlled) : abi::CUDA_ERROR_ILLEGAL_STATE;
  controlled.end();
  return code;
}

}  // namespace
}  // namespace gvb::sim

// Not GVB_SIM_ENTER: a locked process may unlock itself.
#define GVB_SIM_ENTER_CONTROLLER(name) \
  GVB_SIM_CALL(name);                  \
  if (const int unready = sim::driver_unready()) return unready

namespace gvb::abi {

CUresult cuCheckpointProcessGetState(int pid, CUprocessState* state) {
  GVB_SIM_ENTER_CONTROLLER(cuCheckpointProcessGetState);
  const sim::Controlled controlled(pid);
  if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!controlled.is_known()) return controlled.why_no_target();
  *state = controlled.its().now();
  return CUDA_SUCCESS;
}

CUresult cuCheckpointProcessGetRestoreThreadId(int pid, int* thread) {
  GVB_SIM_ENTER_CONTROLLER(cuCheckpointProcessGetRestoreThreadId);
  const sim::Controlled controlled(pid);
  if (thread == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!controlled.is_target()) return controlled.why_no_target();
  *thread = controlled.its().thread.load();
  return CUDA_SUCCESS;
}

CUresult cuCheckpointProcessLock(int pid, CUcheckpointLockArgs* arguments) {
  GVB_SIM_ENTER_CONTROLLER(cuCheckpointProcessLock);
  const int64_t limit_ns = arguments == nullptr ? 0 : int64_t{arguments->timeoutMs} * 1'000'000;
  return sim::control(pid, CU_PROCESS_STATE_RUNNING, [&](const auto& target) { return target.lock(limit_ns); });
}

CUresult cuCheckpointProcessCheckpoint(int pid, CUcheckpointCheckpointArgs*) {
  GVB_SIM_ENTER_CONTROLLER(cuCheckpointProcessCheckpoint);
  return sim::control(pid, CU_PROCESS_STATE_LOCKED, [](const auto& target) { return target.checkpoint(); });
}

// Restoring is refused for ever by another code once there was no room.
CUresult cuCheckpointProcessRestore(int pid, CUcheckpointRestoreArgs*) {
  GVB_SIM_ENTER_CONTROLLER(cuCheckpointProcessRestore);
  const sim::Controlled controlled(pid);
  if (controlled.is_target() && controlled.its().now() == CU_PROCESS_STATE_FAILED) return CUDA_ERROR_OPERATING_SYSTEM;
  return sim::control(pid, CU_PROCESS_STATE_CHECKPOINTED, [](const auto& target) { return target.restore(); });
}

CUresult cuCheckpointProcessUnlock(int pid, CUcheckpointUnlockArgs*) {
  GVB_SIM_ENTER_CONTROLLER(cuCheckpointProcessUnlock);
  return sim::control(pid, CU_PROCESS_STATE_LOCKED, [](const auto& target) { return target.unlock(); });
}

}  // namespace gvb::abi
