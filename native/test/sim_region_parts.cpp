// Who shares a card: by the name of a region, by a command, or nobody; and whose memory is no card.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "sim_parts.h"

namespace test {

namespace {

constexpr const char* kOther = GVB_FAST ",launch_ns=1";

unsigned processes_on_card() {
  nvmlDevice_t device = nullptr;
  CHECK_EQUAL(nvmlInit_v2(), NVML_SUCCESS);
  CHECK_EQUAL(nvmlDeviceGetHandleByIndex_v2(0, &device), NVML_SUCCESS);
  nvmlProcessInfo_t infos[8] = {};
  unsigned count = 8;
  CHECK_EQUAL(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, infos), NVML_SUCCESS);
  return count;
}

void refused(const std::string& region, uid_t owner, mode_t mode) {
  const std::string name = "/gvb-sim-" + std::to_string(getuid()) + "-" + region;
  const int object = shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
  CHECK(object >= 0);
  CHECK_EQUAL(fchmod(object, mode), 0);
  if (owner != getuid()) CHECK_EQUAL(fchown(object, owner, static_cast<gid_t>(-1)), 0);
  CHECK_EQUAL(run_part("refusedObject", kFast, region), 0);
  close(object);
  CHECK_EQUAL(shm_unlink(name.c_str()), 0);
}

}  // namespace

void alone() {
  enter_primary();
  CHECK_EQUAL(processes_on_card(), 1u);
}

void accompanied() {
  enter_primary();
  CHECK_EQUAL(processes_on_card(), 2u);
}

void beside_another() {
  enter_primary();
  CHECK_EQUAL(run_part("alone", kOther, ""), 0);
}

void beside_companion() {
  enter_primary();
  CHECK_EQUAL(run_part("accompanied", kFast, ""), 0);
  setenv("GVB_SIM_COMMAND", "another", 1);
  CHECK_EQUAL(run_part("alone", kOther, ""), 0);
}

void own_cards() {
  unsetenv("GVB_SIM_COMMAND");
  CHECK_EQUAL(run_part("besideAnother", kFast, ""), 0);
  setenv("GVB_SIM_COMMAND", own_region().c_str(), 1);
  CHECK_EQUAL(run_part("besideCompanion", kFast, ""), 0);
}

void refused_object() {
  CHECK(cuInit(0) != CUDA_SUCCESS);
  CHECK(gvbSimError() != nullptr && std::strstr(gvbSimError(), "to belong to this user alone") != nullptr);
}

void foreign_regions() {
  refused(own_region() + "-open", getuid(), 0666);
  if (getuid() == 0) refused(own_region() + "-foreign", 1, 0600);
}

}  // namespace test
