#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/functions.h"

namespace gvb::sim {

constexpr int kMaxDevices = 16;  // cards and MIG instances together
constexpr int64_t kMiB = 1024 * 1024;
constexpr int64_t kGranularity = 2 * kMiB;

// What a process does that the loads of others may take longer for.
enum class Act { kLaunch, kAllocation, kContext, kCopy };
constexpr int kActs = 4;

// Settings that may differ between the cards of a machine: `KEY=VALUE` sets one for all cards, `KEY@INDEX=VALUE` for
// one.
struct CardSettings {
  int64_t sms = 132;
  int64_t memory_mib = 143771;
  int64_t l2_mib = 60;
  double l2_gbs = 0;  // 0: twice the DRAM's
  // Latencies of single loads.
  double l2_hit_ns = 150;
  double l2_far_ns = 0;  // more, of every second line
  double l2_miss_ns = 450;
  double l2_queue_ns = 30;  // more, when others use all of the cache's rate
  double dram_gbs = 4800;
  double pcie_gbs = 63;
  double pcie_out_gbs = 0;    // rate from the card; 0: same as pcie_gbs
  double pageable_gbs = 0;    // rate for host memory that is not pinned; 0: same as for pinned memory
  int64_t pcie_gen = 5;       // 0: NVML reports no link
  int64_t pcie_idle_gen = 0;  // generation while nothing is copied; 0: same as pcie_gen
  int64_t pcie_width = 16;
  int64_t pcie_max_width = 16;
  int64_t copy_engines = 3;  // 1: one for both directions
  int64_t copy_skip = 0;
  int64_t copy_lazy = 0;
  int64_t copy_swap = 0;
  int64_t largest_mib = 0;
  int64_t partition_whole = 0;  // 1: a split of the multiprocessors gives all of them
  int64_t partition_sms = 0;    // that green contexts really have; 0: as many as they say
  double alloc_hole_us = 0;
  double link_gbs = 450;
  int64_t nvlinks = 18;
  int64_t nvlink_mbs = 26562;  // what NVML says that one of them carries
  double fp32_tflops = 67;
  double tensor_tflops = 989;
  int64_t cc = 90;
  // What a multiprocessor has, and how much of its shared memory a block can get.
  int64_t threads = 2048;
  int64_t blocks = 32;
  int64_t registers = 65536;
  int64_t shared_kib = 228;
  int64_t shared_block_kib = 227;
  int64_t occupancy_percent = 100;  // of the blocks that fit: what the driver says
  int64_t integrated = 0;           // 1: the card uses the host's memory, and NVML does not report it
  // No settings of their own: they come with `card`.
  int64_t model = -1;   // in the list of models; -1: none
  int64_t cores = 128;  // FP32 units of a multiprocessor
  int64_t bus_bits = 6144;
  double kernel_ns = 1000;
  double stamp_ns = 0;  // more, of a kernel that writes one time
  double timeslice_us = 2000;
  double switch_us = 1;          // in which nobody runs, between two turns
  int64_t turns_end = 0;         // when others wait: 0 after a slice, 1 after a kernel, 2 when all of it is over
  double fault_us = 0;           // from a kernel's fault until the host can learn of it
  double recovery_ms = 0;        // from a kernel's fault until a context can be opened
  int64_t recovery_refuses = 0;  // 1: it is refused until then; 0: the call waits
  int64_t persistence = 1;
  int64_t temperature_c = 35;
  int64_t performance_state = 0;
  int64_t event_reasons = 0;
  double power_w = 120;
  double power_limit_w = 700;
  int64_t vbios = 1;  // the last part of its version
  int64_t memory_percent = 0;
  // For a MIG instance.
  int64_t parent = -1;   // the card it belongs to; -1: this is a card
  int64_t instance = 0;  // index among the card's instances
  int64_t slices = 0;    // size in sevenths of the card
  int64_t profile = -1;  // in the list of its model; -1: none
  // For a card that is split into instances: their number, and the index of the first.
  int64_t instances = 0;
  int64_t first_instance = 0;
};

// Whether an allocation is larger than the card's memory, or than the card grants in one block.
inline bool is_too_large(const CardSettings& card, size_t bytes) {
  const int64_t most = card.largest_mib > 0 ? card.largest_mib : card.memory_mib;
  return bytes > static_cast<size_t>(most * kMiB);
}

inline double l2_gbs(const CardSettings& card) { return card.l2_gbs > 0 ? card.l2_gbs : 2 * card.dram_gbs; }

// At which copies move data, in bytes a ns.
inline double gbs_to_card(const CardSettings& card) { return card.pcie_gbs; }
inline double gbs_from_card(const CardSettings& card) {
  return card.pcie_out_gbs > 0 ? card.pcie_out_gbs : card.pcie_gbs;
}

// Trivially copyable: it is stored in the region, where processes compare it with their own.
struct Settings {
  int64_t devices = 1;
  int64_t driver_version = 13000;
  int64_t jit = 1;  // 0: the library that compiles PTX is missing
  double launch_ns = 2500;
  double start_ns = 2000;
  double alloc_us = 40;
  double free_us = 50;
  double alloc_async_us = 2;
  double free_async_us = 2;
  double vmm_us = 30;
  double host_alloc_us = 20;
  double host_register_us = 20;
  double init_ms = 30;
  double context_ms = 30;
  int64_t context_mib = 500;
  int64_t init_lock = 0;
  double module_ms = 0;
  double module_cached_ms = 0;
  double nvml_us = 0;
  int64_t timer_step_ns = 32;
  int64_t clock_offset_ns = 1700000000000000000;
  double clock_drift_ppm = 5;
  int64_t mps = 0;
  int64_t fault_spread = 0;
  int64_t process_utilization = 0;
  double nccl_us = 10;
  int64_t nccl_hang = 0;
  int64_t nccl_skip = 0;
  int64_t nccl_off = 0;
  int64_t topology = 0;  // 0: NVLinks connect the cards; else NVML's level of what does
  int64_t peer_access = 1;
  int64_t real_time = 0;
  double checkpoint_lock_us = 400;
  double checkpoint_fixed_us = 350'000;
  double checkpoint_us_per_mib = 620;
  double restore_fixed_us = 250'000;
  double restore_us_per_mib = 176;
  double unlock_us = 1500;
  double checkpoint_gbs = 0;
  int64_t checkpoint_kills = 0;
  int64_t checkpoint_hangs = 0;
  int64_t checkpoint_keeps = 0;
  int64_t checkpoint_corrupts = 0;
  int64_t checkpoint_condemns = 0;
  // More latency of a strong load shortly after another process launched, allocated, made a context or copied.
  double launch_leak_ns = 0;
  double alloc_leak_ns = 0;
  double context_leak_ns = 0;
  double copy_leak_ns = 0;
  int64_t unordered_sums = 0;  // gvb_ordered_sum adds in another order at each launch
  int64_t residue = 0;         // bits of Leak (card/residue.h)
  char region[49] = "";
  // The cards, followed by the MIG instances. An index below is a place in this list.
  CardSettings cards[kMaxDevices];
  int64_t places = 1;

  const CardSettings& card(int place) const { return cards[place]; }
};

// Who gives way to a process of a group within its soft limit, on a full card.
enum class Evicts : int64_t {
  kNobody,
  kContexts,          // who is above its soft limit loses its contexts
  kProcess,           // who is above it is killed
  kWhoeverHoldsMost,  // loses its contexts, whatever soft limits say
};

// Memory limits of cgroups.
struct GroupSettings {
  std::string root;  // folder that stands for the root of the cgroups; empty: none
  // What this process does:
  int64_t evicts = 1;  // Evicts
  double evict_ms = 0;
};

// The parsed GVB_SIM; `error` is empty if it is valid.
struct Environment {
  Settings settings;
  std::vector<Failure> failures;
  GroupSettings groups;
  std::string record;               // folder for the record of calls; empty: none
  std::vector<Function> recorded;   // the functions to record; empty: all
  std::vector<std::string> hidden;  // functions that this process's driver and NVML lack
  std::string error;
};

Environment parse_environment(const char* text);

// GVB_SIM of this process, read at the first call; also arms its failures and starts its record.
const Environment& environment();

inline const Settings& settings() { return environment().settings; }
inline const CardSettings& card_settings(int place) { return settings().cards[place]; }

// Whether work of two cards reaches each other over NVLinks, and not over PCIe.
inline bool over_nvlink(const Settings& all) { return all.topology == 0 && all.peer_access != 0; }
// At which data goes from one card to another, in bytes a ns: the slower one decides.
inline double gbs_between(const CardSettings& from, const CardSettings& to) {
  const bool linked = over_nvlink(settings());
  const double out = linked ? from.link_gbs : gbs_from_card(from), in = linked ? to.link_gbs : gbs_to_card(to);
  return out < in ? out : in;
}

// The first setting in which two processes of one region differ, as "launch_ns=3000 (theirs: 2500)"; empty if none.
std::string difference(const Settings& ours, const Settings& theirs);

}  // namespace gvb::sim
