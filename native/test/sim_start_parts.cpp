// What starting costs: cuInit one process at a time, compiled code that is cached or not, NVML's calls.
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

int filesIn(const char* folder) {
  int count = 0;
  DIR* directory = opendir(folder);
  while (const dirent* entry = readdir(directory)) count += entry->d_name[0] != '.';
  closedir(directory);
  return count;
}

void removeFilesIn(const std::string& folder) {
  DIR* directory = opendir(folder.c_str());
  while (const dirent* entry = readdir(directory))
    if (entry->d_name[0] != '.') unlink((folder + "/" + entry->d_name).c_str());
  closedir(directory);
}

double loadOnce() {
  CUmodule module = nullptr;
  return timed([&] { CHECK_EQUAL(cuModuleLoadData(&module, kPtx), CUDA_SUCCESS); });
}

}  // namespace

void initialised() { CHECK_EQUAL(cuInit(0), CUDA_SUCCESS); }

void initLock() {
  initialised();
  int children[3];
  const double all = timed([&] {
    for (int& child : children) child = startPart("initialised", kLocked, ownRegion());
    for (const int child : children) waitpid(child, nullptr, 0);
  });
  CHECK(all >= 600e6);
  const int holder = startPart("initialised", kLocked, ownRegion());
  usleep(100000);
  kill(holder, SIGKILL);
  // Whoever was in its turn when it died leaves the turn to the next.
  CHECK_EQUAL(runPart("initialised", kLocked, ownRegion()), 0);
  waitpid(holder, nullptr, 0);
}

void compilationCache() {
  char folder[] = "/tmp/gvb-sim-test-XXXXXX";
  CHECK(mkdtemp(folder) != nullptr);
  setenv("CUDA_CACHE_PATH", folder, 1);
  enterPrimary();
  setenv("CUDA_CACHE_DISABLE", "1", 1);
  CHECK(loadOnce() >= 300e6);
  CHECK_EQUAL(filesIn(folder), 0);
  unsetenv("CUDA_CACHE_DISABLE");
  // The only one that finds no entry.
  CHECK(loadOnce() >= 300e6);
  CHECK_EQUAL(filesIn(folder), 1);
  const double cached = shortestOf(loadOnce, 10);
  // Less than a compilation, which takes a hundred times as long.
  CHECK(cached >= 3e6 && cached < 300e6);
  removeFilesIn(folder);
  CHECK_EQUAL(rmdir(folder), 0);
}

void nvmlCost() {
  CHECK(timed([] { nvmlInit_v2(); }) >= 4e6);
  unsigned count = 0;
  CHECK(timed([&] { nvmlDeviceGetCount_v2(&count); }) >= 4e6);
  CHECK_EQUAL(count, 1U);
}

}  // namespace test
