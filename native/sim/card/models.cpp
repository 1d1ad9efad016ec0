#include "sim/card/models.h"

#include <array>

namespace gvb::sim {
namespace {

// What a multiprocessor has: CUDA C++ Programming Guide, technical specifications per compute capability.
struct Multiprocessor {
  int64_t compute_capability;  // times ten
  int64_t threads, blocks, shared_kib, shared_kib_of_a_block, fp32_units;
};

constexpr Multiprocessor kMultiprocessors[] = {
    // compute capability, threads, blocks, KiB of shared memory, the most of a block, FP32 units
    {75, 1024, 16, 64, 64, 64},      // Turing
    {80, 2048, 32, 164, 163, 64},    // A100
    {86, 1536, 16, 100, 99, 128},    // other Ampere
    {89, 1536, 24, 100, 99, 128},    // Ada
    {90, 2048, 32, 228, 227, 128},   // Hopper
    {100, 2048, 32, 228, 227, 128},  // B200
    {120, 1536, 24, 100, 99, 128},   // other Blackwell
    {121, 1536, 24, 100, 99, 128},   // GB10
};

constexpr const Multiprocessor& multiprocessor_of(int64_t compute_capability) {
  for (const Multiprocessor& each : kMultiprocessors)
    if (each.compute_capability == compute_capability) return each;
  return kMultiprocessors[0];
}

// 16 lanes, at 98.5 % of their rate after encoding.
struct Pcie {
  int64_t generation;
  double gbs;
};
constexpr Pcie kPcie3 = {3, 15.75}, kPcie4 = {4, 31.5}, kPcie5 = {5, 63};
// GB10 has no bus to its memory: a copy reads and writes the same DRAM.
constexpr Pcie kNoPcie = {0, 136};

// To a switch: how many, what NVML says of one, and what all of them carry.
struct NvLinks {
  int64_t count, mbs_each;
  double gbs;
};
constexpr NvLinks kNoNvLinks = {0, 1, 1};

using MigProfiles = std::array<MigProfile, 6>;

// A card, made of its figures: those of data sheets and architecture white papers, and what nvidia-smi and deviceQuery
// report of such cards. A new card is a copy of a row of kModels.
class Model {
 public:
  constexpr Model(const char* name, const char* product) : name(name), product(product) { nvlinks(kNoNvLinks); }

  constexpr Model& multiprocessors(int64_t count) { return set(figures.sms, count); }
  constexpr Model& compute_capability(int64_t ten_times) {
    const Multiprocessor& each = multiprocessor_of(ten_times);
    figures.cc = each.compute_capability;
    figures.threads = each.threads;
    figures.blocks = each.blocks;
    figures.shared_kib = each.shared_kib;
    figures.shared_block_kib = each.shared_kib_of_a_block;
    figures.cores = each.fp32_units;
    return *this;
  }
  constexpr Model& memory_mib(int64_t mib) { return set(figures.memory_mib, mib); }
  constexpr Model& memory_bits(int64_t bits) { return set(figures.bus_bits, bits); }
  constexpr Model& memory_gbs(double gbs) { return set(figures.dram_gbs, gbs); }
  constexpr Model& l2_mib(int64_t mib) { return set(figures.l2_mib, mib); }
  constexpr Model& fp32_tflops(double tflops) { return set(figures.fp32_tflops, tflops); }
  // Dense FP16 with sums in FP32, as the kernels here use them.
  constexpr Model& tensor_tflops(double tflops) { return set(figures.tensor_tflops, tflops); }
  constexpr Model& copy_engines(int64_t count) { return set(figures.copy_engines, count); }
  constexpr Model& pcie(const Pcie& bus) {
    figures.pcie_gen = bus.generation;
    figures.pcie_gbs = bus.gbs;
    return *this;
  }
  constexpr Model& nvlinks(const NvLinks& links) {
    figures.nvlinks = links.count;
    figures.nvlink_mbs = links.mbs_each;
    figures.link_gbs = links.gbs;
    return *this;
  }
  constexpr Model& uses_memory_of_the_host() { return set(figures.integrated, int64_t{1}); }
  // Its driver refuses access to the memory of another such card.
  constexpr Model& no_peers() { return set(peers, false); }
  constexpr Model& mig(const MigProfiles& of_instances) { return set(profiles, of_instances); }

  const char* name;
  const char* product;
  CardSettings figures;
  bool peers = true;
  MigProfiles profiles{};

 private:
  template <class T>
  constexpr Model& set(T& figure, const T& value) {
    figure = value;
    return *this;
  }
};

// As nvidia-smi mig -lgip says: sevenths, multiprocessors, eighths of the memory system, MiB, copy engines.
constexpr MigProfiles kA100Instances = {{{"1g.5gb", 1, 14, 1, 4864, 1},
                                         {"1g.10gb", 1, 14, 2, 9984, 1},
                                         {"2g.10gb", 2, 28, 2, 9984, 2},
                                         {"3g.20gb", 3, 42, 4, 20096, 3},
                                         {"4g.20gb", 4, 56, 4, 20096, 4},
                                         {"7g.40gb", 7, 98, 8, 40448, 7}}};
constexpr MigProfiles kH100Instances = {{{"1g.10gb", 1, 16, 1, 9984, 1},
                                         {"1g.20gb", 1, 26, 2, 20096, 1},
                                         {"2g.20gb", 2, 32, 2, 20096, 2},
                                         {"3g.40gb", 3, 60, 4, 40448, 3},
                                         {"4g.40gb", 4, 64, 4, 40448, 4},
                                         {"7g.80gb", 7, 132, 8, 81152, 8}}};
constexpr MigProfiles kH200Instances = {{{"1g.18gb", 1, 16, 1, 16384, 1},
                                         {"1g.35gb", 1, 26, 2, 33024, 1},
                                         {"2g.35gb", 2, 32, 2, 33024, 2},
                                         {"3g.71gb", 3, 60, 4, 71168, 3},
                                         {"4g.71gb", 4, 64, 4, 71168, 4},
                                         {"7g.141gb", 7, 132, 8, 143360, 8}}};
constexpr MigProfiles kB200Instances = {{{"1g.23gb", 1, 18, 1, 22528, 2},
                                         {"1g.45gb", 1, 30, 2, 45312, 2},
                                         {"2g.45gb", 2, 36, 2, 45312, 4},
                                         {"3g.90gb", 3, 70, 4, 90880, 6},
                                         {"4g.90gb", 4, 72, 4, 90880, 8},
                                         {"7g.180gb", 7, 148, 8, 182272, 16}}};

const Model kModels[] = {
    Model("gtx-1650-4gb", "NVIDIA GeForce GTX 1650")
        .compute_capability(75)
        .multiprocessors(14)
        .memory_mib(4096)
        .memory_bits(128)
        .memory_gbs(128)
        .l2_mib(1)
        .fp32_tflops(2.98)
        .tensor_tflops(5.97)
        .pcie(kPcie3)
        .copy_engines(3)
        .no_peers(),
    Model("rtx-3080-10gb", "NVIDIA GeForce RTX 3080")
        .compute_capability(86)
        .multiprocessors(68)
        .memory_mib(10240)
        .memory_bits(320)
        .memory_gbs(760)
        .l2_mib(5)
        .fp32_tflops(29.8)
        .tensor_tflops(59.5)
        .pcie(kPcie4)
        .copy_engines(2)
        .no_peers(),
    Model("l4", "NVIDIA L4")
        .compute_capability(89)
        .multiprocessors(58)
        .memory_mib(23034)
        .memory_bits(192)
        .memory_gbs(300)
        .l2_mib(48)
        .fp32_tflops(30.3)
        .tensor_tflops(121)
        .pcie(kPcie4)
        .copy_engines(2),
    Model("a10", "NVIDIA A10")
        .compute_capability(86)
        .multiprocessors(72)
        .memory_mib(23028)
        .memory_bits(384)
        .memory_gbs(600)
        .l2_mib(6)
        .fp32_tflops(31.2)
        .tensor_tflops(125)
        .pcie(kPcie4)
        .copy_engines(2),
    Model("a100-40gb", "NVIDIA A100-SXM4-40GB")
        .compute_capability(80)
        .multiprocessors(108)
        .memory_mib(40960)
        .memory_bits(5120)
        .memory_gbs(1555)
        .l2_mib(40)
        .fp32_tflops(19.5)
        .tensor_tflops(312)
        .pcie(kPcie4)
        .nvlinks({12, 25781, 300})
        .copy_engines(3)
        .mig(kA100Instances),
    Model("rtx-4090", "NVIDIA GeForce RTX 4090")
        .compute_capability(89)
        .multiprocessors(128)
        .memory_mib(24564)
        .memory_bits(384)
        .memory_gbs(1008)
        .l2_mib(72)
        .fp32_tflops(82.6)
        .tensor_tflops(165.2)
        .pcie(kPcie4)
        .copy_engines(2)
        .no_peers(),
    Model("rtx-5090", "NVIDIA GeForce RTX 5090")
        .compute_capability(120)
        .multiprocessors(170)
        .memory_mib(32607)
        .memory_bits(512)
        .memory_gbs(1792)
        .l2_mib(96)
        .fp32_tflops(104.8)
        .tensor_tflops(209.5)
        .pcie(kPcie5)
        .copy_engines(2)
        .no_peers(),
    Model("gb10", "NVIDIA GB10")
        .compute_capability(121)
        .multiprocessors(48)
        .memory_mib(122570)
        .memory_bits(256)
        .memory_gbs(273)
        .l2_mib(24)
        .fp32_tflops(31)
        .tensor_tflops(62)
        .pcie(kNoPcie)
        .copy_engines(2)
        .uses_memory_of_the_host(),
    Model("h100", "NVIDIA H100 80GB HBM3")
        .compute_capability(90)
        .multiprocessors(132)
        .memory_mib(81559)
        .memory_bits(5120)
        .memory_gbs(3350)
        .l2_mib(50)
        .fp32_tflops(67)
        .tensor_tflops(989)
        .pcie(kPcie5)
        .nvlinks({18, 26562, 450})
        .copy_engines(3)
        .mig(kH100Instances),
    Model("h200", "NVIDIA H200")
        .compute_capability(90)
        .multiprocessors(132)
        .memory_mib(143771)
        .memory_bits(6144)
        .memory_gbs(4800)
        .l2_mib(60)
        .fp32_tflops(67)
        .tensor_tflops(989)
        .pcie(kPcie5)
        .nvlinks({18, 26562, 450})
        .copy_engines(3)
        .mig(kH200Instances),
    Model("b200", "NVIDIA B200")
        .compute_capability(100)
        .multiprocessors(148)
        .memory_mib(183359)
        .memory_bits(8192)
        .memory_gbs(7700)
        .l2_mib(126)
        .fp32_tflops(75)
        .tensor_tflops(2250)
        .pcie(kPcie5)
        .nvlinks({18, 53125, 900})
        .copy_engines(4)
        .mig(kB200Instances),
};

const Model* model_of(const CardSettings& card) { return card.model < 0 ? nullptr : &kModels[card.model]; }

}  // namespace

bool become_model(const std::string& name, CardSettings& card) {
  for (const Model& model : kModels) {
    if (name != model.name) continue;
    card = model.figures;
    card.model = &model - kModels;
    return true;
  }
  return false;
}

std::string model_names() {
  std::string names;
  for (const Model& model : kModels) names += (names.empty() ? "" : ", ") + std::string(model.name);
  return names;
}

const char* model_name(const CardSettings& card) {
  const Model* model = model_of(card);
  return model == nullptr ? "" : model->name;
}

const char* product_name(const CardSettings& card) {
  const Model* model = model_of(card);
  return model == nullptr ? nullptr : model->product;
}

bool has_peer_access(const CardSettings& card) {
  const Model* model = model_of(card);
  return model == nullptr || model->peers;
}

const MigProfile* profile_of(const CardSettings& card, const std::string& text) {
  const Model* model = model_of(card);
  if (model == nullptr) return nullptr;
  for (const MigProfile& profile : model->profiles)
    if (profile.name != nullptr && (text == profile.name || text == std::to_string(profile.slices))) return &profile;
  return nullptr;
}

const MigProfile* profile_of(const CardSettings& instance) {
  const Model* model = model_of(instance);
  return model == nullptr || instance.profile < 0 ? nullptr : &model->profiles[static_cast<size_t>(instance.profile)];
}

int64_t index_of(const CardSettings& card, const MigProfile& profile) {
  return &profile - model_of(card)->profiles.data();
}

std::string profile_names(const CardSettings& card) {
  std::string names;
  const Model* model = model_of(card);
  if (model == nullptr) return names;
  for (const MigProfile& profile : model->profiles)
    if (profile.name != nullptr) names += (names.empty() ? "" : ", ") + std::string(profile.name);
  return names;
}

}  // namespace gvb::sim
