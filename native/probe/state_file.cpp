// The file in which a layer keeps the state of a tenant, and damage to that file. It is the file of this process's
// tenant; without a layer there is none, and the program does the same.
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "base/clock.h"
#include "probe/probe.h"
#include "probe/process.h"

namespace gvb::probe {
namespace {

// From linux/capability.h, which not every system has: the right to write to files that are read-only for their owner.
constexpr unsigned long kDacOverride = 1;
constexpr int64_t kStormNs = 50'000'000;
constexpr size_t kStormBytes = size_t{2} << 20;

void accident(const std::string& what, int failed) {
  report::calls(what);
  if (failed != 0) throw Over(what + " failed: " + std::strerror(errno));
}

void deleted(Run& run) {
  run.enter();
  run.use_memory("memory before");
  if (run.options.state) accident("deleting the layer's file", unlink(run.options.state->c_str()));
  run.use_memory("memory afterwards");
}

// The first process creates the file; after exec the new program finds it.
void read_only(Run& run) {
  await_end("the process that makes the file", start(run, {"", "make", environment_with({}), -1}));
  if (run.options.state) {
    accident("making the layer's file read-only", chmod(run.options.state->c_str(), S_IRUSR | S_IRGRP | S_IROTH));
    // Root may write to a read-only file unless it drops that capability.
    if (geteuid() == 0) accident("giving up the right to write to it", prctl(PR_CAPBSET_DROP, kDacOverride, 0, 0, 0));
  }
  become(run, {"", "use", environment_with({}), -1});
}

void read_only_second(Run& run) {
  run.enter();
  run.use_memory("memory");
  if (*run.options.token == "make") return;
  run.follow_up();
  run.finish();
}

// The first process is killed while it allocates, which leaves the file in an arbitrary state.
void stale(Run& run) {
  int ends[2];
  if (pipe(ends) != 0) throw Over("pipe failed");
  const pid_t storm = start(run, {"", "storm", environment_with({}), ends[1]});
  close(ends[1]);
  char byte = 0;
  report::calls("a process that allocates without an end");
  const bool started = read(ends[0], &byte, 1) == 1;
  close(ends[0]);
  kill(storm, SIGKILL);
  int status = 0;
  if (waitpid(storm, &status, 0) != storm) throw Over("waitpid failed");
  if (!started || !WIFSIGNALED(status)) throw Over("the process that is to be killed did not get so far");
  run.enter();
  run.use_memory("memory of the next process");
}

void storm(Run& run) {
  run.enter();
  const auto allocate = run.address(cuda::cuMemAlloc_v2);
  const auto release = run.address(cuda::cuMemFree_v2);
  bool told = false;
  const int64_t from = now_ns();
  for (int code = abi::CUDA_SUCCESS; code == abi::CUDA_SUCCESS;) {
    CUdeviceptr at = 0;
    code = allocate(&at, kStormBytes);
    if (code == abi::CUDA_SUCCESS) code = release(at);
    if (!told && now_ns() - from > kStormNs) told = write(kShared, "", 1) == 1;
  }
  throw Over("an allocation failed before the process was killed");
}

}  // namespace

Probes state_file_probes() {
  Probe deletion = error_probe({"the layer's file deleted", "", deleted}),
        right = error_probe({"the layer's file read-only", "", read_only, read_only_second}),
        left = error_probe({"the layer's file left by a killed process", "", stale, storm});
  for (Probe* probe : {&deletion, &right, &left}) probe->needs_state = true;
  return {deletion, right, left};
}

}  // namespace gvb::probe
