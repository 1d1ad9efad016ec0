// The executor without Node: order, exclusive sessions, cancellation, owners that detach while it works.
#include "addon/executor.h"

#include <atomic>
#include <future>
#include <vector>

#include "addon/turn.h"
#include "bench/launch_latency.h"
#include "test/check.h"
#include "test/failure_of.h"

using namespace gvb;
using test::failure_of;

namespace {

std::unique_ptr<DeviceSession> open_device(const CancelToken& token) {
  return std::make_unique<DeviceSession>(Driver::load(std::nullopt), DeviceTarget(), token);
}

// Runs until it is cancelled.
void measure_for_long(DeviceSession& device) {
  LaunchRequest request;
  request.count = 1'000'000;
  measure_launches(device, request);
}

SessionId open_session(Executor& executor, Executor::Owner owner) {
  std::promise<SessionId> opened;
  executor.submit_open(owner, open_device, [&](SessionId id, const std::exception_ptr&) { opened.set_value(id); });
  return opened.get_future().get();
}

void close_session(Executor& executor, Executor::Owner owner, SessionId session) {
  std::promise<void> closed;
  executor.submit_close(owner, session, [&] { closed.set_value(); });
  closed.get_future().get();
}

bool aborted(Executor& executor, Executor::Owner owner, SessionId session, std::promise<void>* started) {
  std::promise<bool> outcome;
  executor.submit_in(owner, session, [&](DeviceSession* device) {
    if (started) started->set_value();
    try {
      if (device) measure_for_long(*device);
      outcome.set_value(false);
    } catch (const Failure& failure) {
      outcome.set_value(failure.kind() == FailureKind::kAborted);
    }
  });
  return outcome.get_future().get();
}

void test_sessions_exclude_each_other(Executor& executor, Executor::Owner owner) {
  const SessionId first = open_session(executor, owner);
  CHECK(first != kNoSession);
  std::promise<SessionId> second;
  executor.submit_open(owner, open_device, [&](SessionId id, const std::exception_ptr&) { second.set_value(id); });
  std::future<SessionId> waiting = second.get_future();
  // A task of the open session overtakes the waiting one.
  std::promise<bool> ran;
  executor.submit_in(owner, first, [&](DeviceSession* device) { ran.set_value(device != nullptr); });
  CHECK(ran.get_future().get());
  CHECK(waiting.wait_for(std::chrono::milliseconds(0)) == std::future_status::timeout);
  close_session(executor, owner, first);
  const SessionId later = waiting.get();
  CHECK(later != kNoSession && later != first);
  std::promise<bool> stale;
  executor.submit_in(owner, first, [&](DeviceSession* device) { stale.set_value(device == nullptr); });
  CHECK(stale.get_future().get());
  close_session(executor, owner, later);
}

void test_cancel_stops_a_running_task(Executor& executor, Executor::Owner owner) {
  const SessionId session = open_session(executor, owner);
  std::promise<void> started;
  std::thread canceller([&, begun = started.get_future()]() mutable {
    begun.get();
    executor.cancel(owner, session);
  });
  CHECK(aborted(executor, owner, session, &started));
  canceller.join();
  close_session(executor, owner, session);
}

void test_owner_leaves_in_the_middle(Executor& executor, Executor::Owner stays) {
  int leaving = 0;
  executor.attach(&leaving);
  const SessionId session = open_session(executor, &leaving);
  std::promise<void> started;
  std::promise<void> finished;
  executor.submit_in(&leaving, session, [&](DeviceSession* device) {
    started.set_value();
    try {
      measure_for_long(*device);
    } catch (const Failure&) {
    }
    finished.set_value();
  });
  std::atomic<bool> dropped_ran{false};
  executor.submit_in(&leaving, session, [&](DeviceSession*) { dropped_ran = true; });
  started.get_future().get();
  executor.detach(&leaving);
  CHECK(finished.get_future().wait_for(std::chrono::seconds(0)) == std::future_status::ready);
  CHECK(!dropped_ran);
  // The device is free again for others.
  const SessionId next = open_session(executor, stays);
  CHECK(next != kNoSession);
  close_session(executor, stays, next);
}

// Owner `first` waits for its last task; `last` leaves meanwhile and must leave it the thread.
void test_two_owners_leave_at_once(Executor& executor) {
  int first = 0, last = 0;
  executor.attach(&first);
  executor.attach(&last);
  const SessionId session = open_session(executor, &first);
  std::promise<void> started, may_end;
  std::shared_future<void> end = may_end.get_future().share();
  executor.submit_in(&first, session, [&](DeviceSession*) {
    started.set_value();
    end.get();
  });
  started.get_future().get();
  const auto before = std::chrono::steady_clock::now();
  std::thread leaving([&] { executor.detach(&first); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::thread other([&] { executor.detach(&last); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  may_end.set_value();
  leaving.join();
  other.join();
  // Its patience, after which it would give the thread up.
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(10));
}

void test_sessions_belong_to_their_owner(Executor& executor, Executor::Owner owner) {
  int stranger = 0;
  executor.attach(&stranger);
  const SessionId session = open_session(executor, owner);
  std::promise<bool> refused;
  executor.submit_in(&stranger, session, [&](DeviceSession* device) { refused.set_value(device == nullptr); });
  CHECK(refused.get_future().get());
  close_session(executor, &stranger, session);
  executor.cancel(&stranger, session);
  std::promise<bool> ran;
  executor.submit_in(owner, session, [&](DeviceSession* device) {
    ran.set_value(device != nullptr && failure_of([&] { device->token.check(); }).empty());
  });
  CHECK(ran.get_future().get());
  close_session(executor, owner, session);
  executor.detach(&stranger);
}

// As another copy of the addon would hold it.
void test_the_turn_is_of_the_process(Executor& executor, Executor::Owner owner) {
  CHECK(take_turn_of_process());
  std::promise<SessionId> opened;
  executor.submit_open(owner, open_device, [&](SessionId id, const std::exception_ptr&) { opened.set_value(id); });
  std::future<SessionId> waiting = opened.get_future();
  std::promise<void> others_run;
  executor.submit(owner, [&] { others_run.set_value(); });
  others_run.get_future().get();
  CHECK(waiting.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
  end_turn_of_process();
  const SessionId session = waiting.get();
  CHECK(session != kNoSession && !take_turn_of_process());
  close_session(executor, owner, session);
  CHECK(take_turn_of_process());
  end_turn_of_process();
}

void test_failed_open(Executor& executor, Executor::Owner owner) {
  std::promise<bool> failed;
  executor.submit_open(
      owner,
      [](const CancelToken&) -> std::unique_ptr<DeviceSession> { throw Failure(FailureKind::kNoDriver, "none"); },
      [&](SessionId id, const std::exception_ptr& failure) {
        failed.set_value(id == kNoSession && failure != nullptr);
      });
  CHECK(failed.get_future().get());
  const SessionId next = open_session(executor, owner);
  CHECK(next != kNoSession);
  close_session(executor, owner, next);
}

}  // namespace

int main() {
  Executor& executor = Executor::instance();
  int owner = 0;
  for (int round = 0; round < 3; ++round) {
    executor.attach(&owner);
    test_sessions_exclude_each_other(executor, &owner);
    test_cancel_stops_a_running_task(executor, &owner);
    test_owner_leaves_in_the_middle(executor, &owner);
    test_failed_open(executor, &owner);
    test_sessions_belong_to_their_owner(executor, &owner);
    test_the_turn_is_of_the_process(executor, &owner);
    executor.detach(&owner);
    test_two_owners_leave_at_once(executor);
  }
  return test::report("executor_test");
}
