// The parts of sim_test: each runs in its own process, with its own GVB_SIM and region.
#pragma once

#include "check.h"
#include "sim_api.h"

namespace test {

// Short call costs, for parts that do not measure them.
#define GVB_FAST "init_ms=0,context_ms=0,alloc_us=0,free_us=0,host_alloc_us=0,vmm_us=0"
constexpr const char* kFast = GVB_FAST;

constexpr const char* kRecovers = GVB_FAST ",recovery_ms=200";
constexpr const char* kRecoversRefusing = GVB_FAST ",recovery_ms=200,recovery_refuses=1";

// Checkpoints that take no longer than they have to.
#define GVB_CHECKPOINTS                                                                                          \
  GVB_FAST                                                                                                       \
  ",checkpoint_lock_us=0,checkpoint_fixed_us=0,checkpoint_us_per_mib=0,restore_fixed_us=0,restore_us_per_mib=0," \
  "unlock_us=0"
constexpr const char* kCheckpoints = GVB_CHECKPOINTS;
constexpr const char* kCheckpointTimes = GVB_FAST
    ",checkpoint_lock_us=10000,checkpoint_fixed_us=20000,checkpoint_us_per_mib=2000,restore_fixed_us=30000,"
    "restore_us_per_mib=1000,unlock_us=40000";
// The 64 MiB of a target take 168 ms of the bus each way.
constexpr const char* kCheckpointBus = GVB_CHECKPOINTS ",checkpoint_gbs=0.4,pcie_gbs=1";
constexpr const char* kSmallCard = GVB_CHECKPOINTS ",memory_mib=1000,context_mib=100";
constexpr const char* kCheckpointMps = GVB_CHECKPOINTS ",mps=1";
constexpr const char* kCheckpointMig = GVB_CHECKPOINTS ",mig=3+2+1";
constexpr const char* kCheckpointKills = GVB_CHECKPOINTS ",checkpoint_kills=1";
constexpr const char* kCheckpointHangs = GVB_CHECKPOINTS ",checkpoint_hangs=1,checkpoint_condemns=1";
constexpr const char* kCheckpointCorrupts = GVB_CHECKPOINTS ",checkpoint_corrupts=1";
constexpr const char* kCheckpointKeeps = GVB_CHECKPOINTS ",checkpoint_keeps=1";

struct Part {
  const char* name;
  const char* settings;  // for GVB_SIM, without the region
  void (*run)();
};

void timing();
void kernels();
void occupying();
void multiplying();
void polling();
void echo();
void events();
void graph();
void graph_parameters();
void library();
void capture();
void slices();
void threads();

void memory();
void memory_groups();
void pool();
void virtual_memory();
void sharing();
void killed();
void forked();
void arrays();
void globals();
void graph_memory();
void own_handle();

void refused_key();
void refused_region();
void own_cards();
void foreign_regions();
void contexts();
void proc_address();
void old_driver();
void failures_();
void ptx();
void device();
void nvmlAlone();

void model();
void model_limits();
void few_registers();
void bounded_kernel();
void overridden_model();
void model_mig();
void integrated_model();
void refused_ptx();
void later_model();
void no_compiler();
void refused_model();
void refused_profile();
void without_mig();
void refused_branch();

void checkpoint_states();
void checkpoint_times();
void checkpoint_work();
void checkpoint_without_room();
void checkpoint_killed();
void checkpoint_refused();
void checkpoint_mps();
void checkpoint_mig();
void checkpoint_kills();
void checkpoint_hangs();
void checkpoint_bus();
void checkpoint_taken_over();
void checkpoint_corrupts();
void checkpoint_keeps();
void checkpoint_itself();
void checkpoint_target();
void lock_for_ever();

void faults();
void mps_faults();
void endless_neighbour();
void recovering();
void recovering_refused();
void two_halves();
void mps_limits();
void green_contexts();
void unlike_cards();
void unlike_order();
void mig();
void ipc();
void shareable_handles();
void peers();
void many_launches();

// Processes that other parts start.
void long_work();
void refused_client();
void endless();
void fails();
void half();
void exporter();
void launcher();
void alone();
void accompanied();
void beside_another();
void beside_companion();
void refused_object();
void group_holder();
void group_asker();

void initialised();
void init_lock();
void compilation_cache();
void nvmlCost();

// Runs a part of this program in a process of that region, or of none if it is empty; returns its exit status.
int run_part(const std::string& name, const std::string& settings, const std::string& region);
int start_part(const std::string& name, const std::string& settings, const std::string& region);  // returns its pid
std::string own_region();

constexpr size_t kMiB = 1 << 20;

// Free memory as CUDA reports it.
inline size_t free_bytes() {
  size_t free = 0;
  size_t total = 0;
  CHECK_EQUAL(cuMemGetInfo_v2(&free, &total), CUDA_SUCCESS);
  return free;
}

}  // namespace test
