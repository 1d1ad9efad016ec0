// gvb-probe PROBE [OPTION VALUE …]: runs one probe and reports each of its steps. gvb-probe list: names all probes.
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <stdexcept>

#include "probe/probe.h"

namespace gvb::probe {
namespace {

// The caller normally kills a probe much earlier. This limit is for a probe whose caller cannot, e.g. in a container.
constexpr unsigned kMostSeconds = 120;

constexpr int kUsage = 2, kOver = 3;

void list() {
  for (const Probe& probe : all_probes())
    report::line("probe", {{"name", report::quoted(probe.name)},
                           {"issue", report::quoted(probe.issue)},
                           {"alone", probe.alone ? "true" : "false"}});
}

int run(const Probe& probe, const Options& options) {
  Run run(options);
  try {
    if (!options.token) {
      probe.run(run);
      run.finish();
    } else if (probe.second) {
      probe.second(run);
    }
    return 0;
  } catch (const Over& over) {
    report::line("over", {{"reason", report::quoted(over.what())}});
    return kOver;
  }
}

int main(int count, char** arguments) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(kMostSeconds);
  try {
    const Options options = parse_options(count, arguments);
    if (options.probe == "list") return list(), 0;
    for (const Probe& probe : all_probes())
      if (options.probe == probe.name) return run(probe, options);
    throw std::invalid_argument("Expected a probe (gvb-probe list) but received " + options.probe + ".");
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kUsage;
  }
}

}  // namespace
}  // namespace gvb::probe

int main(int count, char** arguments) { return gvb::probe::main(count, arguments); }
