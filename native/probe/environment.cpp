// Programs without the environment variables that set a layer up: does the limit still hold?
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "probe/probe.h"
#include "probe/process.h"

namespace gvb::probe {
namespace {

// Keeps the variables that define a simulated card, since they are no settings of a layer.
std::vector<std::string> empty_environment() {
  const char* card = std::getenv("GVB_SIM");
  return card ? std::vector<std::string>{std::string("GVB_SIM=") + card} : std::vector<std::string>{};
}

size_t total_memory(Run& run) {
  size_t free = 0, total = 0;
  run.need(cuda::cuMemGetInfo_v2, &free, &total);
  return total;
}

// Both programs must see the same amount of memory; otherwise the limit applies to one of them only.
void compare_with(Run& run, const std::string& who, SecondProcess second) {
  run.enter();
  const size_t total = total_memory(run);
  int ends[2];
  if (pipe(ends) != 0) throw Over("pipe failed");
  second.shared = ends[1];
  second.token = "total";
  const pid_t pid = start(run, second);
  close(ends[1]);
  size_t theirs = 0;
  const bool told = read(ends[0], &theirs, sizeof theirs) == sizeof theirs;
  close(ends[0]);
  await_end(who, pid);
  if (!told) throw Over(who + " did not say how much memory it sees");
  const std::string seen = std::to_string(theirs) + " bytes instead of " + std::to_string(total);
  report::line("data", {{"step", report::quoted("memory that " + who + " sees")},
                        {"value", report::quoted(theirs == total ? "the same" : seen)},
                        {"otherwise", report::quoted("limit fails open")}});
}

void tell_total(Run& run) {
  run.enter();
  const size_t total = total_memory(run);
  if (write(kShared, &total, sizeof total) != sizeof total) throw Over("the pipe is closed");
}

void without_environment(Run& run) {
  compare_with(run, "the child without environment", {"", "", empty_environment(), -1});
}

void linked_statically(Run& run) {
  const std::string program = run.options.self.substr(0, run.options.self.rfind('/')) + "/gvb-probe-static";
  if (access(program.c_str(), X_OK) != 0)
    throw Over(
        "there is no statically linked program here: it loads the driver only beside the C library that it was built "
        "with, so only a build on the same host has one");
  compare_with(run, "the statically linked child", {program, "", environment_with({}), -1});
}

}  // namespace

Probes environment_probes() {
  return {
      {"child with an empty environment", "volcano-vgpu-device-plugin#8", without_environment, tell_total},
      {"statically linked child", "HAMi#925", linked_statically},
  };
}

}  // namespace gvb::probe
