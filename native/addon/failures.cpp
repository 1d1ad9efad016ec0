#include "addon/job.h"
#include "driver/error.h"

namespace gvb {

namespace {

const char* kind_name(FailureKind kind) {
  switch (kind) {
    case FailureKind::kCuda:
      return "cuda";
    case FailureKind::kNoDriver:
      return "no-driver";
    case FailureKind::kFunctionMissing:
      return "function-missing";
    case FailureKind::kDriverConflict:
      return "driver-conflict";
    case FailureKind::kSimSettings:
      return "sim-settings";
    case FailureKind::kInvalidResult:
      return "invalid-result";
    case FailureKind::kNoSuchDevice:
      return "no-such-device";
    case FailureKind::kNoThread:
      return "no-thread";
    case FailureKind::kAborted:
      return "aborted";
  }
  return "unknown";
}

}  // namespace

Napi::Error to_js_error(Napi::Env env, const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const CallFailure& call) {
    Napi::Error error = Napi::Error::New(env, call.what());
    error.Set("kind", kind_name(call.kind()));
    error.Set("code", Napi::Number::New(env, call.code));
    error.Set("codeName", call.name);
    error.Set("call", call.call);
    error.Set("attempt", call.attempt);
    return error;
  } catch (const Failure& plain) {
    Napi::Error error = Napi::Error::New(env, plain.what());
    error.Set("kind", kind_name(plain.kind()));
    return error;
  } catch (const std::exception& other) {
    return Napi::Error::New(env, other.what());
  } catch (...) {
    return Napi::Error::New(env, "unknown failure");
  }
}

}  // namespace gvb
