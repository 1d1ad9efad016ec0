// The record of calls: its entries match what was done, in order, even in a process that was killed. This is the only
// test that compares settings with it.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "record/call_log.h"
#include "test/check.h"
#include "test/sim_api.h"

using gvb::record::Call;
using gvb::record::CallLog;
using namespace test;

namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    char name[] = "/tmp/gvb-record-XXXXXX";
    CHECK(mkdtemp(name) != nullptr);
    path_ = name;
  }
  ~TemporaryFolder() {
    for (const std::string& file : files()) unlink(file.c_str());
    rmdir(path_.c_str());
  }
  const std::string& path() const { return path_; }
  std::vector<std::string> files() const {
    std::vector<std::string> found;
    DIR* directory = opendir(path_.c_str());
    while (const dirent* entry = readdir(directory))
      if (entry->d_name[0] != '.') found.push_back(path_ + "/" + entry->d_name);
    closedir(directory);
    return found;
  }

 private:
  std::string path_;
};

// The layout that test/native/record.ts reads: magic, capacity, number added, bytes of names, offset of calls, cost of
// a reading.
struct Record {
  uint64_t added = 0;
  double reading_ns = 0;
  std::vector<std::string> names;
  std::vector<Call> calls;
};

Record read_record(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string data((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  Record record;
  CHECK(data.compare(0, 8, "gvbcalls") == 0);
  std::array<uint64_t, 4> numbers{};
  std::memcpy(numbers.data(), data.data() + 8, sizeof numbers);
  std::memcpy(&record.reading_ns, data.data() + 40, sizeof record.reading_ns);
  record.added = numbers[1];
  std::string name;
  for (const char one : data.substr(48, numbers[2]))
    if (one == '\n')
      record.names.push_back(std::exchange(name, ""));
    else
      name += one;
  for (uint64_t i = 0; i < record.added; ++i) {
    Call call;
    std::memcpy(&call, data.data() + numbers[3] + i * sizeof call, sizeof call);
    record.calls.push_back(call);
  }
  return record;
}

Record only_record(const TemporaryFolder& folder) {
  const std::vector<std::string> files = folder.files();
  CHECK_EQUAL(files.size(), 1u);
  return files.empty() ? Record{} : read_record(files[0]);
}

void test_keeps_what_is_added_in_order() {
  const TemporaryFolder folder;
  const gvb::record::MadeLog made = CallLog::make(folder.path(), {"first", "second"});
  const std::unique_ptr<CallLog> log(made.log);
  CHECK(log != nullptr && made.why_not.empty());
  const int64_t begun = gvb::now_ns();
  for (int i = 0; i < 100; ++i) {
    Call call{};
    call.entered = 10 * i;
    call.bytes = static_cast<uint64_t>(i);
    call.function = static_cast<uint32_t>(i % 2);
    log->add(call);
  }
  const Record record = only_record(folder);
  CHECK(record.names == (std::vector<std::string>{"first", "second"}));
  CHECK(record.reading_ns > 0);
  CHECK_EQUAL(record.calls.size(), 100u);
  for (size_t i = 0; i < record.calls.size(); ++i) {
    const Call& call = record.calls[i];
    CHECK_EQUAL(call.entered, static_cast<int64_t>(10 * i));
    CHECK(call.left >= (i == 0 ? begun : record.calls[i - 1].left) && call.left <= gvb::now_ns());
    CHECK_EQUAL(call.bytes, i);
    CHECK_EQUAL(call.function, i % 2);
    CHECK_EQUAL(call.thread, static_cast<uint32_t>(gettid()));
  }
}

void test_refuses_a_folder_that_is_not_there() {
  const gvb::record::MadeLog made = CallLog::make("/nonexistent", {"first"});
  CHECK(made.log == nullptr);
  CHECK(made.why_not == "No such file or directory");
}

constexpr int kAllocUs = 3000, kFreeUs = 2000;

// A process of its own, whose simulated driver reads GVB_SIM: it makes its calls and is killed.
int make_calls_and_die() {
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  CUcontext context = nullptr;
  CHECK_EQUAL(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  cuCtxSetCurrent(context);
  for (const size_t bytes : {4096u, 8192u}) {
    CUdeviceptr address = 0;
    CHECK_EQUAL(cuMemAlloc_v2(&address, bytes), CUDA_SUCCESS);
    CHECK_EQUAL(cuMemFree_v2(address), CUDA_SUCCESS);
  }
  if (test::failures > 0) return 1;
  raise(SIGKILL);
  return 1;
}

void run_program(const TemporaryFolder& folder) {
  const pid_t child = fork();
  if (child == 0) {
    const std::string region = "record-test-" + std::to_string(getppid());
    const std::string settings = "init_ms=0,context_ms=0,alloc_us=" + std::to_string(kAllocUs) +
                                 ",free_us=" + std::to_string(kFreeUs) + ",region=" + region +
                                 ",recorded=cuMemAlloc_v2+cuMemFree_v2,record=" + folder.path();
    setenv("GVB_SIM", settings.c_str(), 1);
    execl("/proc/self/exe", "record_test", "--calls", nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  unlink(("/dev/shm/gvb-sim-" + std::to_string(getuid()) + "-record-test-" + std::to_string(getpid())).c_str());
}

void test_is_whole_after_a_kill() {
  const TemporaryFolder folder;
  run_program(folder);
  Record record;
  for (const std::string& file : folder.files())
    if (Record one = read_record(file); one.added > 0) record = one;
  CHECK_EQUAL(record.calls.size(), 4u);
  constexpr std::array<uint64_t, 4> kBytes = {4096, 4096, 8192, 8192};
  for (size_t i = 0; i < record.calls.size(); ++i) {
    const Call& call = record.calls[i];
    const bool allocates = i % 2 == 0;
    CHECK(record.names[call.function] == (allocates ? "cuMemAlloc_v2" : "cuMemFree_v2"));
    CHECK_EQUAL(call.bytes, kBytes[i]);
    // Never less than the setting; more if the machine is busy, which the record must show.
    CHECK(call.left - call.entered >= 1000 * (allocates ? kAllocUs : kFreeUs));
    if (i > 0) CHECK(call.entered >= record.calls[i - 1].left);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--calls") == 0) return make_calls_and_die();
  test_keeps_what_is_added_in_order();
  test_refuses_a_folder_that_is_not_there();
  test_is_whole_after_a_kill();
  return test::report("record_test");
}
