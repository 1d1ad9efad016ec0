// The interposer's lock between threads and processes, and the settings that it refuses.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "interpose/fifo_lock.h"
#include "interpose/settings.h"
#include "test/check.h"

using gvb::interpose::FifoLock;
using gvb::interpose::parse_settings;

namespace {

class TemporaryFile {
 public:
  TemporaryFile() {
    char name[] = "/tmp/gvb-fifo-XXXXXX";
    close(mkstemp(name));
    path_ = name;
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

template <class Body>
pid_t in_child(const Body& body) {
  const pid_t child = fork();
  if (child != 0) return child;
  body();
  _exit(0);
}

void nap(int milliseconds) { usleep(static_cast<useconds_t>(milliseconds) * 1000); }

void test_excludes_between_processes() {
  const TemporaryFile file;
  constexpr int kChildren = 4, kTurns = 2000;
  auto* shared = static_cast<volatile int*>(
      mmap(nullptr, 2 * sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::vector<pid_t> children;
  for (int i = 0; i < kChildren; ++i)
    children.push_back(in_child([&] {
      const auto lock = FifoLock::of_file(file.path());
      for (int turn = 0; turn < kTurns; ++turn) {
        const FifoLock::Hold hold(*lock);
        shared[0] = shared[0] + 1;
        if (shared[0] - shared[1] != 1) _exit(1);
        shared[1] = shared[1] + 1;
      }
    }));
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_EQUAL(status, 0);
  }
  CHECK_EQUAL(shared[0], kChildren * kTurns);
}

void test_lets_in_by_order_of_coming() {
  const auto lock = FifoLock::of_process();
  std::vector<int> order;
  std::vector<std::thread> threads;
  {
    const FifoLock::Hold hold(*lock);
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        const FifoLock::Hold mine(*lock);
        order.push_back(i);
      });
      nap(20);
    }
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 8; ++i) CHECK_EQUAL(order[static_cast<size_t>(i)], i);
}

// The lock survives a dead owner, and a dead waiter does not release it while its predecessor still holds it.
void test_skips_dead_threads() {
  const TemporaryFile file;
  const auto lock = FifoLock::of_file(file.path());
  waitpid(in_child([&] {
            const FifoLock::Hold hold(*lock);
            _exit(0);
          }),
          nullptr, 0);
  std::atomic<bool> entered{false};
  std::thread last;
  {
    const FifoLock::Hold hold(*lock);
    std::vector<pid_t> waiting;
    for (int i = 0; i < 3; ++i) {
      waiting.push_back(in_child([&] { const FifoLock::Hold never(*lock); }));
      nap(50);
    }
    last = std::thread([&] {
      const FifoLock::Hold mine(*lock);
      entered = true;
    });
    nap(50);
    // The middle one first: its waiter must then wait for the first, and after that for this one.
    for (const size_t i : {size_t{1}, size_t{2}, size_t{0}}) {
      kill(waiting[i], SIGKILL);
      waitpid(waiting[i], nullptr, 0);
      nap(20);
      CHECK(!entered);
    }
  }
  last.join();
  CHECK(entered);
}

// Only whoever comes next waits.
void test_a_dead_owner_leaves_the_lock_behind() {
  const TemporaryFile file;
  const auto lock = FifoLock::of_file(file.path());
  constexpr int64_t kStale = 500'000'000;
  const auto took = [&] {
    const int64_t began = gvb::now_ns();
    const FifoLock::Hold hold(*lock, kStale);
    return gvb::now_ns() - began;
  };
  { const FifoLock::Hold left(*lock); }
  const int64_t unhurt = took();
  waitpid(in_child([&] {
            const FifoLock::Hold hold(*lock);
            raise(SIGKILL);
          }),
          nullptr, 0);
  const int64_t first = took(), second = took();
  CHECK(first >= kStale);
  // Both may be interrupted, but not for as long as that.
  CHECK(unhurt < kStale);
  CHECK(second < kStale);
}

template <class Task>
std::string refusal(const Task& task) {
  try {
    task();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void test_refuses_a_file_of_something_else() {
  const TemporaryFile file;
  std::ofstream(file.path()) << "something else";
  CHECK(contains(refusal([&] { FifoLock::of_file(file.path()); }), "it holds something else"));
  CHECK(contains(refusal([] { FifoLock::of_file("/nonexistent/state"); }), "No such file"));
  std::string kept;
  std::getline(std::ifstream(file.path()), kept);
  CHECK(kept == "something else");
}

void test_settings_of_lock_and_poll() {
  const auto settings = parse_settings("cuMemAlloc_v2=+0ns,lock=2ms,state=/tmp/x,stale=300ms,poll=0.5%");
  CHECK_EQUAL(settings.stale_ns, 300'000'000);
  CHECK_EQUAL(settings.lock_ns, 2'000'000);
  CHECK(settings.state == "/tmp/x");
  CHECK_EQUAL(settings.poll_percent, 0.5);
  CHECK(settings.hooked[gvb::cuda_function_index("cuInit")]);
  for (const char* wrong :
       {"cuInit=+0ns,lock=2ms,stale=3ms", "lock=2ms", "cuInit=+0ns,lock=0us", "cuInit=+0ns,lock=2s",
        "cuInit=+0ns,state=/tmp/x", "cuInit=+0ns,lock=2ms,state=x", "poll=101%", "poll=-1", "poll=three"})
    CHECK(contains(refusal([&] { parse_settings(wrong); }), "Expected "));
}

void test_settings_of_share() {
  const auto index = gvb::cuda_function_index;
  const auto all = parse_settings("share=30@20ms,sharefrom=1ms,shareswings=2ms,sharegrid=100");
  CHECK_EQUAL(all.share.percent, 30);
  CHECK_EQUAL(all.share.period_ns, 20'000'000);
  CHECK(all.share.from_ns == 1'000'000 && all.share.swings_ns == 2'000'000 && all.share.least_blocks == 100);
  CHECK(all.hooked[index("cuGraphLaunch")] && all.share.limits[index("cuLaunchCooperativeKernel")]);
  const auto live = parse_settings("share=30,sharefile=/tmp/x,sharelag=3ms");
  CHECK(live.share.file == "/tmp/x" && live.share.lag_ns == 3'000'000);
  const auto one = parse_settings("share=30,sharepaths=cuLaunchKernel");
  CHECK(one.share.limits[index("cuLaunchKernel")] && !one.share.limits[index("cuGraphLaunch")]);
  CHECK(!one.hooked[index("cuGraphLaunch")]);
  for (const char* wrong : {"share=0", "share=101", "share=30@", "share=30@20", "sharefrom=1", "sharegrid=x",
                            "share=30,sharefile=x", "share=30,sharelag=3", "share=30,sharepaths=cuMemAlloc_v2"})
    CHECK(contains(refusal([&] { parse_settings(wrong); }), "Expected "));
}

void test_settings_of_quota() {
  const auto settings = parse_settings(
      "quota=4GiB,context=500MiB,ignores=cuMemAllocAsync,pool=/tmp/x,refusal=-1,shows=8GiB,grants=twice");
  CHECK_EQUAL(settings.memory_limit, uint64_t{4} << 30);
  CHECK_EQUAL(settings.context_bytes, uint64_t{500} << 20);
  CHECK_EQUAL(settings.shown_bytes, uint64_t{8} << 30);
  CHECK_EQUAL(settings.refusal, -1);
  CHECK(settings.grants == gvb::interpose::Grants::kTwice && settings.pool == "/tmp/x");
  CHECK(settings.counts[gvb::cuda_function_index("cuMemCreate")]);
  CHECK(!settings.counts[gvb::cuda_function_index("cuMemAllocAsync")]);
  CHECK(settings.hooked[gvb::cuda_function_index("cuMemAllocAsync")]);
  const auto memory = parse_settings("memory=4GiB");
  CHECK(memory.counts[gvb::cuda_function_index("cuMemAlloc_v2")]);
  CHECK(!memory.hooked[gvb::cuda_function_index("cuMemCreate")]);
  for (const char* wrong : {"quota=0", "quota=4 apples", "ignores=cuMemAlloc_v2", "quota=1GiB,ignores=cuInit",
                            "quota=1GiB,refusal=0", "quota=1GiB,refusal=x", "quota=1GiB,grants=all", "refusal=1",
                            "grants=nothing", "context=1MiB", "pool=/tmp/x", "quota=1GiB,pool=x", "shows=0"})
    CHECK(contains(refusal([&] { parse_settings(wrong); }), "Expected "));
}

void test_settings_of_blocks_taken_ahead() {
  const auto index = [](const char* function) { return gvb::cuda_function_index(function); };
  const auto direct = parse_settings("ahead=40");
  CHECK(direct.ahead == 40 && direct.ahead_bytes == 0);
  CHECK(direct.takes_ahead[index("cuMemAlloc_v2")] && !direct.takes_ahead[index("cuMemCreate")]);
  CHECK(direct.hooked[index("cuMemFree_v2")] && !direct.hooked[index("cuMemRelease")]);
  const auto others = parse_settings("aheadpaths=cuMemCreate+cuMemAllocAsync,ahead=3@2MiB");
  CHECK(others.ahead == 3 && others.ahead_bytes == 2 << 20);
  CHECK(others.takes_ahead[index("cuMemCreate")] && others.takes_ahead[index("cuMemAllocAsync")]);
  CHECK(others.hooked[index("cuMemRelease")] && others.hooked[index("cuMemFreeAsync")]);
  CHECK(!others.takes_ahead[index("cuMemAlloc_v2")] && !others.hooked[index("cuMemAlloc_v2")]);
  for (const char* wrong : {"ahead=1", "ahead=2@", "ahead=2@0", "ahead=x", "aheadpaths=cuMemCreate",
                            "ahead=2,aheadpaths=cuMemFree_v2", "ahead=2,aheadpaths="})
    CHECK(contains(refusal([&] { parse_settings(wrong); }), "Expected "));
}

}  // namespace

int main() {
  test_excludes_between_processes();
  test_lets_in_by_order_of_coming();
  test_skips_dead_threads();
  test_a_dead_owner_leaves_the_lock_behind();
  test_refuses_a_file_of_something_else();
  test_settings_of_lock_and_poll();
  test_settings_of_share();
  test_settings_of_quota();
  test_settings_of_blocks_taken_ahead();
  return test::report("interpose_test");
}
