#include "addon/job.h"

#include <napi.h>

#include <utility>

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
    if (call.memory_is_short) error.Set("memoryIsShort", Napi::Boolean::New(env, *call.memory_is_short));
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

class NodeJob : public Job, public std::enable_shared_from_this<NodeJob> {
 public:
  explicit NodeJob(Napi::Env env)
      : environment_(environment_of(env)),
        thread_safe_(ThreadSafe::New(env, "gpu-virt-bench", 0, 1)),
        deferred_(Napi::Promise::Deferred::New(env)) {}

  Napi::Promise promise() const { return deferred_.Promise(); }

  // Passes itself to its environment's thread, or is dropped if that environment is gone.
  void finish(const std::function<Result()>& work) override {
    try {
      result_ = work();
    } catch (...) {
      failure_ = std::current_exception();
    }
    const std::lock_guard<std::mutex> lock(environment_->mutex);
    if (!environment_->alive) return;
    auto* message = new std::shared_ptr<NodeJob>(shared_from_this());
    // Once a thread-safe function reports that it is closing, it must not be used again, not even to release it.
    if (thread_safe_.BlockingCall(message) == napi_ok)
      thread_safe_.Release();
    else
      delete message;
  }

 private:
  static void call(Napi::Env env, Napi::Function, std::nullptr_t*, std::shared_ptr<NodeJob>* message) {
    const std::unique_ptr<std::shared_ptr<NodeJob>> job(message);
    if (env == nullptr) return;
    const Napi::HandleScope scope(env);
    (*job)->settle(env);
  }

  void settle(Napi::Env env) {
    if (failure_)
      deferred_.Reject(to_js_error(env, failure_).Value());
    else
      deferred_.Resolve(result_(env));
  }

  using ThreadSafe = Napi::TypedThreadSafeFunction<std::nullptr_t, std::shared_ptr<NodeJob>, call>;
  const std::shared_ptr<Environment> environment_;
  ThreadSafe thread_safe_;
  Napi::Promise::Deferred deferred_;
  Result result_;
  std::exception_ptr failure_;
};

}  // namespace

const std::shared_ptr<Environment>& environment_of(js::Env env) {
  return *Napi::Env(env).GetInstanceData<std::shared_ptr<Environment>>();
}

js::Value promise(js::Env env, const std::function<void(const std::shared_ptr<Job>&)>& submit) {
  const auto job = std::make_shared<NodeJob>(env);
  const Napi::Promise promised = job->promise();
  try {
    submit(job);
  } catch (...) {
    job->fail(std::current_exception());
  }
  return promised;
}

}  // namespace gvb
