// A promise whose result comes from the executor: the work runs there, the conversion and the settling on the
// environment's own thread. The pending promise keeps the event loop alive.
#pragma once

#include <napi.h>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace gvb {

// What a failure becomes in JavaScript: an Error with `kind`, and for calls `code`, `name`, `call`, `attempt`.
Napi::Error to_js_error(Napi::Env env, const std::exception_ptr& failure);

class JobBase {
 public:
  virtual ~JobBase() = default;
  virtual void settle(Napi::Env env) = 0;

  // Hands the job to its environment's thread. Where that environment is already going, the job is dropped.
  static void finish(std::unique_ptr<JobBase> job) {
    ThreadSafe thread_safe = job->thread_safe_;
    JobBase* raw = job.release();
    if (thread_safe.BlockingCall(raw) != napi_ok) delete raw;
    thread_safe.Release();
  }

 protected:
  explicit JobBase(Napi::Env env) : thread_safe_(ThreadSafe::New(env, "gpu-virt-bench", 0, 1)) {}

 private:
  static void call(Napi::Env env, Napi::Function, std::nullptr_t*, JobBase* raw) {
    const std::unique_ptr<JobBase> job(raw);
    if (env == nullptr) return;
    const Napi::HandleScope scope(env);
    job->settle(env);
  }

  using ThreadSafe = Napi::TypedThreadSafeFunction<std::nullptr_t, JobBase, call>;
  ThreadSafe thread_safe_;
};

template <class Result>
class Job : public JobBase {
 public:
  using Convert = std::function<Napi::Value(Napi::Env, const Result&)>;

  Job(Napi::Env env, Convert convert)
      : JobBase(env), deferred_(Napi::Promise::Deferred::New(env)), convert_(std::move(convert)) {}

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
