// A promise whose result comes from the executor: the work runs there, the conversion and the settling on the
// environment's own thread. The pending promise keeps the event loop alive.
#pragma once

#include <napi.h>

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace gvb {

// What a failure becomes in JavaScript: an Error with `kind`, and for calls `code`, `name`, `call`, `attempt`.
Napi::Error to_js_error(Napi::Env env, const std::exception_ptr& failure);

// The environment (main thread or worker_thread) a job belongs to; its address names it towards the executor. Once it
// is no longer alive, nothing of Node's may be touched: a driver call can outlast the environment that asked for it.
struct Environment {
  std::mutex mutex;
  bool alive = true;
};

class JobBase {
 public:
  virtual ~JobBase() = default;
  virtual void settle(Napi::Env env) = 0;

  // Hands the job to its environment's thread, or drops it where that environment is gone.
  static void finish(const std::shared_ptr<JobBase>& job) {
    const std::lock_guard<std::mutex> lock(job->environment_->mutex);
    if (!job->environment_->alive) return;
    auto* message = new std::shared_ptr<JobBase>(job);
    // A thread-safe function that says it is closing must not be touched again, not even to release it.
    if (job->thread_safe_.BlockingCall(message) == napi_ok)
      job->thread_safe_.Release();
    else
      delete message;
  }

 protected:
  JobBase(Napi::Env env, std::shared_ptr<Environment> environment)
      : environment_(std::move(environment)), thread_safe_(ThreadSafe::New(env, "gpu-virt-bench", 0, 1)) {}

 private:
  static void call(Napi::Env env, Napi::Function, std::nullptr_t*, std::shared_ptr<JobBase>* message) {
    const std::unique_ptr<std::shared_ptr<JobBase>> job(message);
    if (env == nullptr) return;
    const Napi::HandleScope scope(env);
    (*job)->settle(env);
  }

  using ThreadSafe = Napi::TypedThreadSafeFunction<std::nullptr_t, std::shared_ptr<JobBase>, call>;
  const std::shared_ptr<Environment> environment_;
  ThreadSafe thread_safe_;
};

template <class Result>
class Job : public JobBase {
 public:
  using Convert = std::function<Napi::Value(Napi::Env, const Result&)>;

  Job(Napi::Env env, std::shared_ptr<Environment> environment, Convert convert)
      : JobBase(env, std::move(environment)),
        deferred_(Napi::Promise::Deferred::New(env)),
        convert_(std::move(convert)) {}

  Napi::Promise promise() const { return deferred_.Promise(); }

  template <class Work>
  void perform(const Work& work) {
    try {
      result_.emplace(work());
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  void fail(std::exception_ptr failure) { failure_ = std::move(failure); }

  void settle(Napi::Env env) override {
    if (failure_)
      deferred_.Reject(to_js_error(env, failure_).Value());
    else
      deferred_.Resolve(convert_(env, *result_));
  }

 private:
  Napi::Promise::Deferred deferred_;
  Convert convert_;
  std::optional<Result> result_;
  std::exception_ptr failure_;
};

}  // namespace gvb
