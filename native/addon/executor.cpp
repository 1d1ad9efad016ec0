#include "addon/executor.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "addon/turn.h"

namespace gvb {

namespace {

// A call into a lost device may never return; the process must still be able to exit.
constexpr std::chrono::seconds kPatience{10};

template <class Run>
std::thread start(Run run) {
  try {
    return std::thread(run);
  } catch (const std::system_error& error) {
    throw Failure(FailureKind::kNoThread, std::string("The measuring thread could not be started: ") + error.what() +
                                              ". Raise the limit of processes (ulimit -u) or the container's of PIDs.");
  }
}

}  // namespace

Executor& Executor::instance() {
  // Never destroyed: a thread stuck in the driver may outlive static destruction.
  static Executor& executor = *new Executor;
  return executor;
}

void Executor::attach(Owner owner) {
  const std::lock_guard<std::mutex> lock(mutex_);
  owners_.insert(owner);
}

void Executor::detach(Owner owner) {
  std::unique_lock<std::mutex> lock(mutex_);
  owners_.erase(owner);
  ++detaching_;
  queue_.erase(std::remove_if(queue_.begin(), queue_.end(), [&](const Task& task) { return task.owner == owner; }),
               queue_.end());
  if (active_owner_ == owner) {
    token_->cancel();
    queue_.push_front({owner, false, [this] { close_active(); }});
    changed_.notify_all();
  }
  // Uses the system clock: waiting by the steady clock needs a newer glibc than the oldest that Node 20 supports.
  const bool finished = changed_.wait_until(lock, std::chrono::system_clock::now() + kPatience,
                                            [&] { return running_for_ != owner && active_owner_ != owner; });
  --detaching_;
  if (!owners_.empty() || detaching_ > 0 || !thread_.joinable()) return;
  std::thread last = std::move(thread_);
  *stop_ = true;
  // Another owner's last task may be stuck.
  const bool ends = finished && running_for_ == nullptr;
  changed_.notify_all();
  lock.unlock();
  if (ends)
    last.join();
  else
    last.detach();
}

void Executor::push(Task task) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!thread_.joinable()) {
    // Per thread: a new thread may be needed while the previous one is still stopping.
    stop_ = std::make_shared<bool>(false);
    thread_ = start([this, stop = stop_] { loop(*stop); });
  }
  queue_.push_back(std::move(task));
  changed_.notify_all();
}

std::optional<Executor::Task> Executor::next_task() {
  const auto ready = std::find_if(queue_.begin(), queue_.end(), [&](const Task& candidate) {
    return !candidate.opens_session || (active_ == kNoSession && take_turn_of_process());
  });
  if (ready == queue_.end()) return std::nullopt;
  Task task = std::move(*ready);
  queue_.erase(ready);
  return task;
}

void Executor::loop(const bool& stop) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stop) {
    std::optional<Task> task = next_task();
    if (!task) {
      wait_for_task(lock);
      continue;
    }
    running_for_ = task->owner;
    lock.unlock();
    task->run();
    task.reset();
    lock.lock();
    running_for_ = nullptr;
    changed_.notify_all();
  }
}

void Executor::wait_for_task(std::unique_lock<std::mutex>& lock) {
  // Another copy of the addon does not say when its turn ends.
  constexpr std::chrono::milliseconds kLookAgain{10};
  if (active_ == kNoSession && !queue_.empty())
    changed_.wait_until(lock, std::chrono::system_clock::now() + kLookAgain);
  else
    changed_.wait(lock);
}

void Executor::submit(Owner owner, std::function<void()> run) { push({owner, false, std::move(run)}); }

void Executor::submit_open(Owner owner, OpenDevice open, std::function<void(SessionId, std::exception_ptr)> opened) {
  push({owner, true, [this, owner, open = std::move(open), opened = std::move(opened)] {
          auto token = std::make_shared<CancelToken>();
          std::unique_ptr<DeviceSession> session;
          try {
            session = open(*token);
          } catch (...) {
            end_turn_of_process();
            opened(kNoSession, std::current_exception());
            return;
          }
          if (const SessionId id = activate(owner, token, std::move(session))) return opened(id, nullptr);
          session.reset();
          end_turn_of_process();
        }});
}

// If the owner detached while its session was being opened, nobody would close the session, so it is dropped here.
SessionId Executor::activate(Owner owner, const std::shared_ptr<CancelToken>& token,
                             std::unique_ptr<DeviceSession>&& session) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (owners_.count(owner) == 0) return kNoSession;
  session_ = std::move(session);
  token_ = token;
  active_owner_ = owner;
  return active_ = ++last_id_;
}

void Executor::submit_in(Owner owner, SessionId session, std::function<void(DeviceSession*)> run) {
  push({owner, false,
        [this, owner, session, run = std::move(run)] { run(is_open(owner, session) ? session_.get() : nullptr); }});
}

void Executor::submit_close(Owner owner, SessionId session, std::function<void()> closed) {
  push({owner, false, [this, owner, session, closed = std::move(closed)] {
          if (is_open(owner, session)) close_active();
          closed();
        }});
}

void Executor::close_active() {
  session_.reset();
  end_turn_of_process();
  const std::lock_guard<std::mutex> lock(mutex_);
  active_ = kNoSession;
  active_owner_ = nullptr;
  token_.reset();
}

void Executor::cancel(Owner owner, SessionId session) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_open(owner, session)) token_->cancel();
}

// Sessions are numbers that another environment could guess.
bool Executor::is_open(Owner owner, SessionId session) const { return session == active_ && owner == active_owner_; }

}  // namespace gvb
