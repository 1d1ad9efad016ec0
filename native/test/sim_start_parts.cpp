// The cost of starting: cuInit one process at a time, compiled code with and without a cache, NVML's calls.
#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "sim_measure.h"
#include "sim_parts.h"

namespace test {

namespace {

constexpr const char* kLocked = "init_ms=200,init_lock=1,context_ms=0";

int files_in(const char* folder) {
  int count = 0;
  DIR* directory = opendir(folder);
  while (const dirent* entry = readdir(directory)) count += entry->d_name[0] != '.';
  closedir(directory);
  return count;
}

void remove_files_in(const std::string& folder) {
  DIR* directory = opendir(folder.c_str());
  while (const dirent* entry = readdir(directory))
    if (entry->d_name[0] != '.') unlink((folder + "/" + entry->d_name).c_str());
  closedir(directory);
}

double load_once() {
  CUmodule module = nullptr;
  return timed([&] { CHECK_EQUAL(cuModuleLoadData(&module, kPtx), CUDA_SUCCESS); });
}

}  // namespace

void initialised() { CHECK_EQUAL(cuInit(0), CUDA_SUCCESS); }

void init_lock() {
  initialised();
  int children[3];
  const double all = timed([&] {
    for (int& child : children) child = start_part("initialised", kLocked, own_region());
    for (const int child : children) waitpid(child, nullptr, 0);
  });
  CHECK(all >= 600e6);
  const int holder = start_part("initialised", kLocked, own_region());
  usleep(100000);
  kill(holder, SIGKILL);
  // A process that dies in its turn leaves the turn to the next.
  CHECK_EQUAL(run_part("initialised", kLocked, own_region()), 0);
  waitpid(holder, nullptr, 0);
}

void compilation_cache() {
  char folder[] = "/tmp/gvb-sim-test-XXXXXX";
  CHECK(mkdtemp(folder) != nullptr);
  setenv("CUDA_CACHE_PATH", folder, 1);
  enter_primary();
  setenv("CUDA_CACHE_DISABLE", "1", 1);
  CHECK(load_once() >= 300e6);
  CHECK_EQUAL(files_in(folder), 0);
  unsetenv("CUDA_CACHE_DISABLE");
  // The only load that finds no cache entry.
  CHECK(load_once() >= 300e6);
  CHECK_EQUAL(files_in(folder), 1);
  const double cached = shortest_of(load_once, 10);
  // Less than a compilation, which takes a hundred times as long.
  CHECK(cached >= 3e6 && cached < 300e6);
  remove_files_in(folder);
  CHECK_EQUAL(rmdir(folder), 0);
}

void nvmlCost() {
  CHECK(timed([] { nvmlInit_v2(); }) >= 4e6);
  unsigned count = 0;
  CHECK(timed([&] { nvmlDeviceGetCount_v2(&count); }) >= 4e6);
  CHECK_EQUAL(count, 1U);
}

}  // namespace test
