// A program that is terminated while it works, as by any orchestrator: does the next one start?
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "base/clock.h"
#include "probe/probe.h"
#include "probe/process.h"

namespace gvb::probe {
namespace {

constexpr int64_t kStormNs = 100'000'000;

void terminated(Run& run) {
  int ends[2];
  if (pipe(ends) != 0) throw Over("pipe failed");
  const pid_t storm = start(run, {"", "storm", environment_with({}), ends[1]});
  close(ends[1]);
  char byte = 0;
  report::calls("a program that launches without an end");
  const bool started = read(ends[0], &byte, 1) == 1;
  close(ends[0]);
  if (started) kill(storm, SIGTERM);
  int status = 0;
  report::calls("SIGTERM while it launches");
  if (waitpid(storm, &status, 0) != storm) throw Over("waitpid failed");
  report::data("it ended by", WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                                  : "exit " + std::to_string(WEXITSTATUS(status)));
  run.enter();
  run.use_memory("memory of the next program");
}

void storm(Run& run) {
  run.enter();
  const auto kernel = run.empty_kernel();
  const auto launch = run.address(cuda::cuLaunchKernel);
  bool told = false;
  const int64_t from = now_ns();
  int code = abi::CUDA_SUCCESS;
  while (code == abi::CUDA_SUCCESS) {
    code = launch(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
    if (told || now_ns() - from < kStormNs) continue;
    told = write(kShared, "", 1) == 1;
  }
  report::code("cuLaunchKernel", code);
  Run::fail("cuLaunchKernel", code);
}

}  // namespace

// Runs alone and last: terminating a busy MPS client may take other clients with it.
Probes launch_probes() { return {{"SIGTERM while kernels are launched", "HAMi#2500", terminated, storm, true}}; }

}  // namespace gvb::probe
