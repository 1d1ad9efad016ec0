// Tests of the code that driver, bench, simulator and interposer share.
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/hexadecimal.h"
#include "base/robust_mutex.h"
#include "base/shared_file.h"
#include "base/stop_signal.h"
#include "base/text.h"
#include "base/thread.h"
#include "base/wait.h"
#include "test/check.h"

using namespace gvb;

namespace {

void test_text() {
  CHECK(split("", ',') == std::vector<std::string>({""}));
  CHECK(split("a,,b,", ',') == std::vector<std::string>({"a", "", "b", ""}));
  CHECK(named_value("key=a=b").name == "key" && named_value("key=a=b").value == "a=b");
  CHECK(named_value("key").name == "key" && named_value("key").value.empty());
  CHECK(begins_with("GPU-1", "GPU-") && !begins_with("GP", "GPU-"));
  CHECK(first_line("/proc/self/comm").value_or("") == "base_test");
  CHECK(!first_line("/nonexistent") && !first_line("/dev/null"));
}

void test_hexadecimal() {
  const unsigned char bytes[] = {0x00, 0x0f, 0xa5, 0xff};
  CHECK(hexadecimal(bytes, sizeof bytes) == "000fa5ff");
  unsigned char read[4] = {};
  CHECK(read_hexadecimal("000fa5ff", read, sizeof read));
  CHECK(std::equal(bytes, bytes + sizeof bytes, read));
  for (const char* refused : {"", "000fa5", "000fa5ff00", "000fa5fg", "000fa5f ", "-00fa5ff"})
    CHECK(!read_hexadecimal(refused, read, sizeof read));
}

void test_waiting() {
  const int64_t from = now_ns();
  wait_until(from + 25'000'000, [] {});
  CHECK(now_ns() >= from + 25'000'000);
  wait_for_release(from + 28'000'000, [] {});
  CHECK(now_ns() >= from + 28'000'000);
  // The check ends a wait that would last an hour.
  constexpr int64_t kHour = 3'600'000'000'000;
  int checks = 0;
  bool ended = false;
  try {
    wait_until(from + kHour, [&] {
      if (++checks == 3) throw std::runtime_error("ended");
    });
  } catch (const std::runtime_error&) {
    ended = true;
  }
  CHECK(ended && checks == 3 && now_ns() < from + kHour);
  sleep_until(from);  // already passed
  const int64_t later = now_ns();
  sleep_until(later + 1'000'000);
  CHECK(now_ns() >= later + 1'000'000);
  const ReadingCost cost = measure_reading_cost(101);
  CHECK(cost.least > 0 && cost.median >= cost.least);
}

void test_thread_takes_no_signals() {
  std::promise<bool> blocked;
  CHECK(start_thread(Processors::kProcesses, [&] {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    blocked.set_value(sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGPROF) == 1);
  }));
  CHECK(blocked.get_future().get());
  sigset_t own;
  pthread_sigmask(SIG_SETMASK, nullptr, &own);
  CHECK_EQUAL(sigismember(&own, SIGTERM), 0);
}

struct Shared {
  pthread_mutex_t mutex;
  int value;
};

void in_child(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK_EQUAL(status, 0);
}

void test_stop_signal() {
  StopSignal signal;
  const int64_t from = now_ns();
  CHECK(!signal.wait_until(from + 25'000'000));
  CHECK(now_ns() >= from + 25'000'000);
  CHECK(!signal.wait_until(from));  // already over
  // It ends a wait long before its time, and every later one.
  const auto waiting = std::async(std::launch::async, [&] { return signal.wait_until(from + 3'600'000'000'000); });
  nap_ns(10'000'000);
  signal.stop();
  waiting.wait();
  CHECK(signal.stopped());
  CHECK(signal.wait_until(INT64_MAX));
}

void test_shared_file() {
  char path[] = "/tmp/gvb-base-XXXXXX";
  close(mkstemp(path));
  auto* shared = [&] {
    const SharedFile file = SharedFile::at_path(path);
    CHECK(file.opened() && file.size() == 0);
    return static_cast<Shared*>(file.map(sizeof(Shared)));
  }();
  make_robust(&shared->mutex);
  in_child([&] {
    const SharedFile file = SharedFile::at_path(path);
    auto* same = static_cast<Shared*>(file.map(sizeof(Shared)));
    lock_robust(&same->mutex);
    same->value = 7;  // and dies while it holds the lock
  });
  {
    const RobustLock lock(&shared->mutex);
    CHECK(lock.owner_died());
    CHECK_EQUAL(shared->value, 7);
  }
  CHECK(!RobustLock(&shared->mutex).owner_died());
  const SharedFile file = SharedFile::at_path(path);
  CHECK_EQUAL(file.size(), sizeof(Shared));
  CHECK(file.clear(sizeof(Shared)));
  CHECK_EQUAL(shared->value, 0);
  unlink(path);
  CHECK(!SharedFile::at_path("/nonexistent/file").opened());
}

// A process that waited for the lock of a file which is unlinked meanwhile opens the current file instead.
void test_unlinked_meanwhile() {
  char path[] = "/tmp/gvb-base-XXXXXX";
  close(mkstemp(path));
  std::future<size_t> waiting;
  {
    const SharedFile first = SharedFile::at_path(path);
    first.map(100);
    waiting = std::async(std::launch::async, [&] { return SharedFile::at_path(path).size(); });
    nap_ns(50'000'000);
    unlink(path);
  }
  CHECK_EQUAL(waiting.get(), 0u);
  CHECK_EQUAL(unlink(path), 0);
}

}  // namespace

int main() {
  test_text();
  test_hexadecimal();
  test_waiting();
  test_thread_takes_no_signals();
  test_stop_signal();
  test_shared_file();
  test_unlinked_meanwhile();
  return test::report("base_test");
}
