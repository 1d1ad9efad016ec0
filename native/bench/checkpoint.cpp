#include "bench/checkpoint.h"

#include "base/clock.h"
#include "driver/driver.h"

namespace gvb {

namespace {

using abi::CUresult;

// One block for all calls and drivers: a newer driver reads bytes that an older one ignores.
using CheckpointArguments = abi::CUcheckpointArgs;
static_assert(sizeof(CheckpointArguments) == 64);

class CheckpointController {
 public:
  // The functions of a whole turn, whatever the call: what is locked or restored can only go on, or end, by the others.
  CheckpointController(const Cuda& cuda, const CheckpointRequest& request)
      : cuda_(cuda),
        pid_(static_cast<int>(request.pid)),
        call_(request.call),
        get_state_(cuda.require(cuda.api.cuCheckpointProcessGetState, "cuCheckpointProcessGetState")),
        lock_(cuda.require(cuda.api.cuCheckpointProcessLock, "cuCheckpointProcessLock")),
        checkpoint_(cuda.require(cuda.api.cuCheckpointProcessCheckpoint, "cuCheckpointProcessCheckpoint")),
        restore_(cuda.require(cuda.api.cuCheckpointProcessRestore, "cuCheckpointProcessRestore")),
        unlock_(cuda.require(cuda.api.cuCheckpointProcessUnlock, "cuCheckpointProcessUnlock")) {
    if (call_ == CheckpointCall::kLock) arguments_.timeoutMs = request.timeout_ms;
  }

  CheckpointAnswer run() {
    switch (call_) {
      case CheckpointCall::kState: {
        abi::CUprocessState state{};
        CheckpointAnswer answer = timed(get_state_, &state);
        if (answer.code == abi::CUDA_SUCCESS) answer.state = static_cast<int>(state);
        return answer;
      }
      case CheckpointCall::kRestoreThread: {
        int thread = 0;
        CheckpointAnswer answer = timed(
            cuda_.require(cuda_.api.cuCheckpointProcessGetRestoreThreadId, "cuCheckpointProcessGetRestoreThreadId"),
            &thread);
        if (answer.code == abi::CUDA_SUCCESS) answer.thread = thread;
        return answer;
      }
      case CheckpointCall::kLock:
        return timed(lock_, &arguments_);
      case CheckpointCall::kCheckpoint:
        return timed(checkpoint_, &arguments_);
      case CheckpointCall::kRestore:
        return timed(restore_, &arguments_);
      case CheckpointCall::kUnlock:
        return timed(unlock_, &arguments_);
    }
    return {};
  }

 private:
  template <class Argument>
  CheckpointAnswer timed(CUresult (*function)(int, Argument*), Argument* argument) const {
    CheckpointAnswer answer;
    const int64_t before = now_ns();
    answer.code = function(pid_, argument);
    answer.took_ns = static_cast<double>(now_ns() - before);
    answer.called_ns = static_cast<double>(before);
    answer.name = answer.code == abi::CUDA_SUCCESS ? "CUDA_SUCCESS" : cuda_.error_name(answer.code);
    return answer;
  }

  using Step = CUresult (*)(int, CheckpointArguments*);

  const Cuda& cuda_;
  const int pid_;
  const CheckpointCall call_;
  CUresult (*const get_state_)(int, abi::CUprocessState*);
  const Step lock_;
  const Step checkpoint_;
  const Step restore_;
  const Step unlock_;
  CheckpointArguments arguments_{};
};

}  // namespace

CheckpointAnswer call_checkpoint(const CheckpointRequest& request) {
  const Driver& driver = Driver::load(request.simulated_driver);
  driver.initialise(request.path);
  const Cuda cuda = driver.cuda(request.path);
  return CheckpointController(cuda, request).run();
}

}  // namespace gvb
