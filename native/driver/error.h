// The failures of a measurement. Each carries what JavaScript needs to explain it: what was attempted, which call
// failed, and the driver's own name for the code.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace gvb {

enum class FailureKind {
  kCuda,
  kNoDriver,
  kFunctionMissing,
  kDriverConflict,
  kSimSettings,
  kInvalidResult,
  kNoSuchDevice,
  kNoThread,
  kAborted
};

class Failure : public std::runtime_error {
 public:
  Failure(FailureKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  FailureKind kind() const { return kind_; }

 private:
  FailureKind kind_;
};

// A function that was looked up and not found.
class MissingFunction : public Failure {
 public:
  explicit MissingFunction(const std::string& message) : Failure(FailureKind::kFunctionMissing, message) {}

  std::string function;
};

// A CUDA driver or NVML call that returned an error code.
class CallFailure : public Failure {
 public:
  CallFailure(FailureKind kind, int code, std::string name, std::string call, std::string attempt)
      : Failure(kind, call + " returned " + name + " (" + std::to_string(code) + ") while " + attempt),
        code(code),
        name(std::move(name)),
        call(std::move(call)),
        attempt(std::move(attempt)) {}

  const int code;
  const std::string name;
  const std::string call;
  const std::string attempt;
  // Whether less memory was free than the refused call wanted. Empty: unknown, or refused for another reason.
  std::optional<bool> memory_is_short;
};

// A process has one driver, real or simulated.
[[noreturn]] inline void fail_driver_conflict(bool simulated_is_loaded) {
  throw Failure(FailureKind::kDriverConflict,
                simulated_is_loaded ? "Expected one driver per process but the simulated one is already loaded; "
                                      "measure the real GPU in a process of its own."
                                    : "Expected one driver per process but the machine's own is already loaded; "
                                      "simulate in a process of its own.");
}

}  // namespace gvb
