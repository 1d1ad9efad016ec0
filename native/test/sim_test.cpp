// Tests the simulated GPU as any program finds it: through LD_LIBRARY_PATH.

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "sim_parts.h"

namespace test {
namespace {

// Kernels take milliseconds, so seconds of work are queued within milliseconds.
constexpr const char* kSlowMemory = GVB_FAST ",dram_gbs=48";

void hold_memory() {
  enter_primary();
  CUdeviceptr address = 0;
  CHECK_EQUAL(cuMemAlloc_v2(&address, 1000 << 20), CUDA_SUCCESS);
  std::printf("held\n");
  std::fflush(stdout);
  pause();
}

void mismatched() {
  CHECK_EQUAL(cuInit(0), CUDA_ERROR_ILLEGAL_STATE);
  CHECK(gvbSimError() != nullptr && std::strstr(gvbSimError(), "launch_ns=1 (theirs: 2500)") != nullptr);
}

const Part kParts[] = {
    {"timing", "init_ms=5,context_ms=7", timing},
    {"kernels", kFast, kernels},
    {"occupying", kFast, occupying},
    {"multiplying", kFast, multiplying},
    {"polling", kFast, polling},
    {"echo", kFast, echo},
    {"events", kFast, events},
    // Preparing two nodes takes the simulator itself longer than the usual 2500 ns on some machines.
    {"graph", GVB_FAST ",launch_ns=10000", graph},
    {"graphParameters", kFast, graph_parameters},
    {"library", kFast, library},
    {"capture", kFast, capture},
    {"slices", kSlowMemory, slices},
    {"threads", kFast, threads},
    {"checkpointStates", kCheckpoints, checkpoint_states},
    {"checkpointTimes", kCheckpointTimes, checkpoint_times},
    {"checkpointWork", kCheckpoints, checkpoint_work},
    {"checkpointWithoutRoom", kSmallCard, checkpoint_without_room},
    {"checkpointKilled", kCheckpoints, checkpoint_killed},
    {"checkpointRefused", kCheckpoints, checkpoint_refused},
    {"checkpointMps", kCheckpointMps, checkpoint_mps},
    {"checkpointMig", kCheckpointMig, checkpoint_mig},
    {"checkpointKills", kCheckpointKills, checkpoint_kills},
    {"checkpointHangs", kCheckpointHangs, checkpoint_hangs},
    {"checkpointBus", kCheckpointBus, checkpoint_bus},
    {"checkpointTakenOver", kCheckpoints, checkpoint_taken_over},
    {"checkpointCorrupts", kCheckpointCorrupts, checkpoint_corrupts},
    {"checkpointKeeps", kCheckpointKeeps, checkpoint_keeps},
    {"checkpointItself", kCheckpoints, checkpoint_itself},
    {"faults", kFast, faults},
    {"mpsFaults", GVB_FAST ",mps=1", mps_faults},
    {"endlessNeighbour", kFast, endless_neighbour},
    {"recovering", kRecovers, recovering},
    {"recoveringRefused", kRecoversRefusing, recovering_refused},
    {"twoHalves", GVB_FAST ",mps=1", two_halves},
    {"mpsLimits", GVB_FAST ",mps=1", mps_limits},
    {"greenContexts", kFast, green_contexts},
    {"unlikeOrder", GVB_FAST ",devices=3,sms@0=30,sms@1=70,sms@2=50", unlike_order},
    {"unlikeCards", GVB_FAST ",devices=3,sms=100,sms@1=50,memory_mib@2=1000,dram_gbs@1=100", unlike_cards},
    {"mig", GVB_FAST ",devices=2,mig@1=3+2+1", mig},
    {"ipc", kFast, ipc},
    {"shareableHandles", kFast, shareable_handles},
    {"peers", GVB_FAST ",devices=2,link_gbs=0.1", peers},
    {"manyLaunches", GVB_FAST ",launch_ns=0", many_launches},
    {"memory", kFast, memory},
    {"memoryGroups", GVB_FAST ",memory_mib=10000", memory_groups},
    {"pool", kFast, pool},
    {"virtualMemory", kFast, virtual_memory},
    {"sharing", kFast, sharing},
    {"killed", kFast, killed},
    {"forked", kFast, forked},
    {"arrays", kFast, arrays},
    {"globals", kFast, globals},
    {"graphMemory", kFast, graph_memory},
    {"ownHandle", kFast, own_handle},
    {"refusedKey", "lunch_ns=3", refused_key},
    {"refusedRegion", kFast, refused_region},
    {"ownCards", kFast, own_cards},
    {"foreignRegions", kFast, foreign_regions},
    {"contexts", kFast, contexts},
    {"procAddress", kFast, proc_address},
    {"oldDriver", "driver_version=11040", old_driver},
    {"failures", "init_ms=0,context_ms=0,fail=cuMemAlloc_v2:2@3+cuCtxGetDevice:719@1", failures_},
    {"ptx", kFast, ptx},
    {"model", GVB_FAST ",card=rtx-5090", model},
    {"modelLimits", GVB_FAST ",card=rtx-5090", model_limits},
    {"fewRegisters", GVB_FAST ",registers=8192", few_registers},
    {"boundedKernel", kFast, bounded_kernel},
    {"overriddenModel", "devices=2,memory_mib@1=1000,sms=50,card@1=a10,card=l4", overridden_model},
    {"modelMig", "card=a100-40gb,mig=1g.10gb+3g.20gb", model_mig},
    {"integratedModel", "card=gb10", integrated_model},
    {"refusedPtx", GVB_FAST ",card=l4,driver=525", refused_ptx},
    {"laterModel", GVB_FAST ",card=b200", later_model},
    {"noCompiler", GVB_FAST ",jit=0", no_compiler},
    {"refusedModel", "card=voodoo", refused_model},
    {"refusedProfile", "card=h100,mig=1g.5gb", refused_profile},
    {"withoutMig", "card=l4,mig=1g.5gb", without_mig},
    {"refusedBranch", "driver=500", refused_branch},
    {"device", "devices=2,dram_gbs=3350,mps=1,cc=86", device},
    {"nvmlAlone", kFast, nvmlAlone},
    {"initLock", "init_ms=200,init_lock=1,context_ms=0", init_lock},
    {"compilationCache", "init_ms=0,context_ms=0,module_ms=300,module_cached_ms=3", compilation_cache},
    {"nvmlCost", "nvml_us=4000", nvmlCost},
};

const Part kHelpers[] = {{"holdMemory", kFast, hold_memory},
                         {"mismatched", kFast, mismatched},
                         {"checkpointTarget", kFast, checkpoint_target},
                         {"lockForEver", kFast, lock_for_ever},
                         {"initialised", kFast, initialised},
                         {"longWork", kFast, long_work},
                         {"refusedClient", kFast, refused_client},
                         {"endless", kFast, endless},
                         {"fails", kFast, fails},
                         {"half", kFast, half},
                         {"exporter", kFast, exporter},
                         {"alone", kFast, alone},
                         {"accompanied", kFast, accompanied},
                         {"besideAnother", kFast, beside_another},
                         {"besideCompanion", kFast, beside_companion},
                         {"refusedObject", kFast, refused_object},
                         {"groupHolder", kFast, group_holder},
                         {"groupAsker", kFast, group_asker},
                         {"launcher", kFast, launcher}};

int run_here(const char* name) {
  for (const Part& part : kParts)
    if (std::strcmp(part.name, name) == 0) part.run();
  for (const Part& part : kHelpers)
    if (std::strcmp(part.name, name) == 0) part.run();
  return failures == 0 ? 0 : 1;
}

int run_all(const char* only) {
  int failed = 0;
  for (const Part& part : kParts) {
    if (only != nullptr && std::strcmp(only, part.name) != 0) continue;
    const std::string region = std::string("test-") + std::to_string(getpid()) + "-" + part.name;
    const int status = run_part(part.name, part.settings, region);
    std::printf("%s %s\n", status == 0 ? "ok    " : "FAILED", part.name);
    failed += status != 0;
    if (access(("/dev/shm/gvb-sim-" + std::to_string(getuid()) + "-" + region).c_str(), F_OK) == 0) {
      std::printf("FAILED %s left its region behind\n", part.name);
      ++failed;
    }
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace

int start_part(const std::string& name, const std::string& settings, const std::string& region) {
  std::fflush(nullptr);
  const int child = fork();
  if (child != 0) return child;
  setenv("GVB_SIM", (region.empty() ? settings : settings + ",region=" + region).c_str(), 1);
  execl("/proc/self/exe", "sim_test", "--part", name.c_str(), nullptr);
  _exit(127);
}

int run_part(const std::string& name, const std::string& settings, const std::string& region) {
  int status = 0;
  waitpid(start_part(name, settings, region), &status, 0);
  return status;
}

std::string own_region() {
  const std::string settings = std::getenv("GVB_SIM");
  return settings.substr(settings.rfind('=') + 1);
}

}  // namespace test

int main(int argc, char** argv) {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  if (argc == 3 && std::strcmp(argv[1], "--part") == 0) return test::run_here(argv[2]);
  return test::run_all(argc == 2 ? argv[1] : nullptr);
}
