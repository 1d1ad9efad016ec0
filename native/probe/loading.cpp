// Ways to load libcuda other than dlopen by name.
#include "probe/probe.h"

namespace gvb::probe {
namespace {

void open(Run& run, const std::string& file, int flags) {
  report::calls("dlopen " + file);
  const std::string reason = run.cuda.open(file, flags);
  if (!reason.empty()) throw Over("libcuda cannot be loaded: " + reason);
}

void work(Run& run) {
  run.enter();
  run.use_memory("memory");
}

void deep_binding(Run& run) {
  open(run, run.options.libcuda, RTLD_NOW | RTLD_DEEPBIND);
  work(run);
}

void absolute_path(Run& run) {
  if (run.options.driver.empty()) throw Over("the path of libcuda is not known");
  open(run, run.options.driver, Library::kUsual);
  work(run);
}

void after_closing(Run& run) {
  open(run, run.options.libcuda, RTLD_NOW);
  run.need(cuda::cuInit, 0);
  int version = 0;
  run.need(cuda::cuDriverGetVersion, &version);
  report::calls("dlclose");
  run.cuda.close();
  open(run, run.options.libcuda, RTLD_NOW);
  work(run);
}

}  // namespace

Probes loading_probes() {
  return {
      {"libcuda with RTLD_DEEPBIND", "HAMi-core#215", deep_binding},
      {"libcuda by absolute path", "HAMi-core#326", absolute_path},
      {"libcuda after dlclose", "HAMi#2903", after_closing},
  };
}

}  // namespace gvb::probe
