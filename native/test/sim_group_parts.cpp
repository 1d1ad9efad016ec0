// Limits of device memory by cgroup: a folder stands for their root.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "sim_parts.h"

namespace test {
namespace {

constexpr const char* kGroup = "GVB_TEST_GROUP";
constexpr const char* kAsks = "GVB_TEST_ASKS_MIB";
// What is free beside this process, a holder and one that asks, each with a context of 500 MiB: 3498 MiB.
constexpr const char* kCard = GVB_FAST ",memory_mib=10000";
constexpr size_t kHoldersMiB = 5000;

void append(const std::string& file, const std::string& text) {
  FILE* const out = std::fopen(file.c_str(), "a");
  CHECK(out != nullptr && std::fputs(text.c_str(), out) >= 0 && std::fclose(out) == 0);
}

std::string limit(size_t mib) { return "nvidia/0000:01:00.0/vidmem " + std::to_string(mib * kMiB) + "\n"; }

void join_group() { append(std::string(std::getenv(kGroup)) + "/cgroup.procs", std::to_string(getpid()) + "\n"); }

// The groups `first` and `second`, with the same hard limit.
class Groups {
 public:
  Groups() {
    CHECK(mkdtemp(root_) != nullptr);
    make("first", 2000);
    make("second", 4000);
  }
  ~Groups() {
    for (const char* name : {"first", "second"}) {
      for (const char* file : {"cgroup.procs", "dmem.max", "dmem.min"}) unlink((path(name) + "/" + file).c_str());
      rmdir(path(name).c_str());
    }
    rmdir(root_);
  }
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;

  // A process of the first group that holds all that it may.
  int start_holder(const std::string& evicts) {
    settings_ = std::string(kCard) + ",dmem=" + root_ + ",dmem_evicts=" + evicts;
    setenv(kGroup, path("first").c_str(), 1);
    const size_t before = free_bytes();
    const int child = start_part("groupHolder", settings_, own_region());
    for (int i = 0; i < 40000 && before - free_bytes() < (kHoldersMiB + 500) * kMiB; ++i) usleep(5000);
    return child;
  }

  // What a process of the second group is answered.
  int ask(const char* mib) {
    setenv(kGroup, path("second").c_str(), 1);
    setenv(kAsks, mib, 1);
    return WEXITSTATUS(run_part("groupAsker", settings_, own_region()));
  }

 private:
  std::string path(const std::string& name) const { return std::string(root_) + "/" + name; }
  void make(const std::string& name, size_t soft_mib) const {
    CHECK_EQUAL(mkdir(path(name).c_str(), 0700), 0);
    append(path(name) + "/dmem.max", limit(6000));
    append(path(name) + "/dmem.min", limit(soft_mib));
  }

  char root_[32] = "/tmp/gvb-sim-test-XXXXXX";
  std::string settings_;
};

int end_of(int child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

void group_holder() {
  join_group();
  enter_primary();
  CUdeviceptr held = 0, more = 0;
  // Together with the context that is the hard limit.
  CHECK_EQUAL(cuMemAlloc_v2(&more, 5501 * kMiB), CUDA_ERROR_OUT_OF_MEMORY);
  CHECK_EQUAL(cuMemAlloc_v2(&held, kHoldersMiB * kMiB), CUDA_SUCCESS);
  size_t free = 0, total = 0;
  CHECK_EQUAL(cuMemGetInfo_v2(&free, &total), CUDA_SUCCESS);
  CHECK_EQUAL(total, 6000 * kMiB);
  CUresult code = CUDA_SUCCESS;
  for (int i = 0; i < 40000 && code == CUDA_SUCCESS; ++i) {
    code = cuMemGetInfo_v2(&free, &total);
    usleep(5000);
  }
  CHECK_EQUAL(code, CUDA_ERROR_MPS_CLIENT_TERMINATED);
  CHECK_EQUAL(cuMemFree_v2(held), CUDA_ERROR_MPS_CLIENT_TERMINATED);
}

void group_asker() {
  join_group();
  enter_primary();
  CUdeviceptr address = 0;
  const size_t mib = std::strtoull(std::getenv(kAsks), nullptr, 10);
  _exit(cuMemAlloc_v2(&address, mib * kMiB));
}

void memory_groups() {
  enter_primary();
  Groups groups;
  const size_t all = free_bytes();

  int holder = groups.start_holder("1");
  CHECK_EQUAL(groups.ask("3498"), CUDA_SUCCESS);  // without pressure
  // Above its own soft limit, it takes nothing from others.
  CHECK_EQUAL(groups.ask("3501"), CUDA_ERROR_OUT_OF_MEMORY);
  CHECK_EQUAL(all - free_bytes(), (kHoldersMiB + 500) * kMiB);
  CHECK_EQUAL(groups.ask("3499"), CUDA_SUCCESS);
  CHECK_EQUAL(end_of(holder), 0);
  CHECK_EQUAL(free_bytes(), all);

  holder = groups.start_holder("2");
  CHECK_EQUAL(groups.ask("3499"), CUDA_SUCCESS);
  CHECK_EQUAL(WTERMSIG(end_of(holder)), SIGKILL);

  holder = groups.start_holder("0");
  CHECK_EQUAL(groups.ask("3499"), CUDA_ERROR_OUT_OF_MEMORY);
  CHECK_EQUAL(all - free_bytes(), (kHoldersMiB + 500) * kMiB);
  kill(holder, SIGKILL);
  end_of(holder);

  holder = groups.start_holder("3");
  CHECK_EQUAL(groups.ask("3501"), CUDA_SUCCESS);
  CHECK_EQUAL(end_of(holder), 0);
}

}  // namespace test
