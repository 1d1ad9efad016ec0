// A promise whose result comes from another thread: the work runs there; the conversion and the settling run on the
// environment's thread. The pending promise keeps the event loop alive.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <mutex>

#include "addon/topic.h"

namespace gvb {

// The environment (main thread or worker_thread) of a job; its address identifies it to the executor. Once it is no
// longer alive, nothing of Node may be touched: a driver call can outlive the environment that made it.
struct Environment {
  std::mutex mutex;
  bool alive = true;
};

const std::shared_ptr<Environment>& environment_of(js::Env env);

class Job {
 public:
  virtual ~Job() = default;
  // Called once, from any thread. If `work` throws, the promise rejects with an Error with `kind` and, for calls,
  // `code`, `codeName`, `call` and `attempt`.
  virtual void finish(const std::function<Result()>& work) = 0;
  void fail(const std::exception_ptr& failure) {
    finish([&]() -> Result { std::rethrow_exception(failure); });
  }
};

// Passes a job to `submit` and returns the job's promise, which rejects if `submit` throws.
js::Value promise(js::Env env, const std::function<void(const std::shared_ptr<Job>&)>& submit);

}  // namespace gvb
