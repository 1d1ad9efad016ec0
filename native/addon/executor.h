// The only native thread of the process that calls the GPU. It runs tasks one at a time, in order. A session holds the
// device from its opening to its closing, so that measurements of several callers (worker_threads included) never mix.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "bench/device_session.h"

namespace gvb {

using SessionId = uint32_t;  // starts at 1
constexpr SessionId kNoSession = 0;

class Executor {
 public:
  using Owner = const void*;  // an environment (main thread or worker_thread)
  using OpenDevice = std::function<std::unique_ptr<DeviceSession>(const CancelToken&)>;

  static Executor& instance();

  // The thread lives while at least one environment is attached.
  void attach(Owner owner);
  // Drops the owner's tasks, cancels its running one and closes its session. Returns once its last task has left the
  // thread, so that nothing of it outlives the environment.
  void detach(Owner owner);

  // A task that needs no device.
  void submit(Owner owner, std::function<void()> run);
  // Runs once no other session is open; `opened` receives the id, or the exception that open threw.
  void submit_open(Owner owner, OpenDevice open, std::function<void(SessionId, std::exception_ptr)> opened);
  // A task on an open session of the owner; receives nullptr if that session is not open (any more).
  void submit_in(Owner owner, SessionId session, std::function<void(DeviceSession*)> run);
  void submit_close(Owner owner, SessionId session, std::function<void()> closed);
  void cancel(Owner owner, SessionId session);

 private:
  struct Task {
    Owner owner;
    bool opens_session;
    std::function<void()> run;
  };

  void push(Task task);
  void loop(const bool& stop);
  std::optional<Task> next_task();
  void wait_for_task(std::unique_lock<std::mutex>& lock);
  void close_active();
  bool is_open(Owner owner, SessionId session) const;
  SessionId activate(Owner owner, const std::shared_ptr<CancelToken>& token, std::unique_ptr<DeviceSession>&& session);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> queue_;
  std::thread thread_;
  std::set<Owner> owners_;      // attached owners
  size_t detaching_ = 0;        // owners that wait for their last task; the thread is theirs until then
  std::shared_ptr<bool> stop_;  // tells thread_ to stop; guarded by mutex_
  Owner running_for_ = nullptr;

  // The open session; mutex_ guards token_ and active_, session_ belongs to the thread.
  SessionId active_ = kNoSession;
  Owner active_owner_ = nullptr;
  SessionId last_id_ = kNoSession;
  std::shared_ptr<CancelToken> token_;
  std::unique_ptr<DeviceSession> session_;
};

}  // namespace gvb
