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
  CheckpointController(const Cuda& cuda, const CheckpointRequest& request)
      : cuda_(cuda), pid_(static_cast<int>(request.pid)), call_(request.call) {
    if (call_ == CheckpointCall::kLock) arguments_.timeoutMs = request.timeout_ms;
  }

  CheckpointAnswer run() {
    switch (call_) {
      case CheckpointCall::kState: {
        abi::CUprocessState state{};
        CheckpointAnswer answer =
            timed(cuda_.require(cuda_.api.cuCheckpointProcessGetState, "cuCheckpointProcessGetState"), &state);
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
        return timed(cuda_.require(cuda_.api.cuCheckpointProcessLock, "cuCheckpointProcessLock"), &arguments_);
      case CheckpointCall::kCheckpoint:
        return timed(cuda_.require(cuda_.api.cuCheckpointProcessCheckpoint, "cuCheckpointProcessCheckpoint"),
                     &arguments_);
      case CheckpointCall::kRestore:
        return timed(cuda_.require(cuda_.api.cuCheckpointProcessRestore, "cuCheckpointProcessRestore"), &arguments_);
      case CheckpointCall::kUnlock:
        return timed(cuda_.require(cuda_.api.cuCheckpointProcessUnlock, "cuCheckpointProcessUnlock"), &arguments_);
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

  const Cuda& cuda_;
  const int pid_;
  const CheckpointCall call_;
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
