#include "sim/card/models.h"

#include <array>
#include <cstring>
#include <iterator>

namespace gvb::sim {
namespace {

// Limits by compute capability: CUDA C++ Programming Guide, technical specifications per compute capability.
struct Limits {
  int64_t cc, threads, blocks, shared_kib, shared_block_kib, cores;
};

constexpr Limits kLimits[] = {
    {75, 1024, 16, 64, 64, 64},    {80, 2048, 32, 164, 163, 64},  {86, 1536, 16, 100, 99, 128},
    {89, 1536, 24, 100, 99, 128},  {90, 2048, 32, 228, 227, 128}, {100, 2048, 32, 228, 227, 128},
    {120, 1536, 24, 100, 99, 128}, {121, 1536, 24, 100, 99, 128},
};

constexpr size_t kMostProfiles = 6;

// Figures of data sheets and architecture white papers, and what nvidia-smi and deviceQuery report of such cards.
// TFLOPS of tensor cores are dense FP16 with sums in FP32, as the kernels here use them.
struct Model {
  const char* name;
  const char* product;
  int64_t cc, sms, memory_mib, l2_mib;
  double dram_gbs;
  int64_t bus_bits;
  double fp32_tflops, tensor_tflops;
  int64_t pcie_gen;
  double pcie_gbs;
  int64_t nvlinks, nvlink_mbs;
  double link_gbs;
  int64_t copy_engines;
  bool peers, integrated;
  std::array<MigProfile, kMostProfiles> profiles;  // memory as nvidia-smi mig -lgip says
};

// PCIe carries 98.5 % of its rate after encoding: 15.75, 31.5 and 63 GB/s for 16 lanes of generations 3, 4 and 5. GB10
// has no bus to its memory: a copy reads and writes the same DRAM.
const Model kModels[] = {
    {"gtx-1650-4gb",
     "NVIDIA GeForce GTX 1650",
     75,
     14,
     4096,
     1,
     128,
     128,
     2.98,
     5.97,
     3,
     15.75,
     0,
     1,
     1,
     3,
     false,
     false,
     {}},
    {"rtx-3080-10gb",
     "NVIDIA GeForce RTX 3080",
     86,
     68,
     10240,
     5,
     760,
     320,
     29.8,
     59.5,
     4,
     31.5,
     0,
     1,
     1,
     2,
     false,
     false,
     {}},
    {"l4", "NVIDIA L4", 89, 58, 23034, 48, 300, 192, 30.3, 121, 4, 31.5, 0, 1, 1, 2, true, false, {}},
    {"a10", "NVIDIA A10", 86, 72, 23028, 6, 600, 384, 31.2, 125, 4, 31.5, 0, 1, 1, 2, true, false, {}},
    {"a100-40gb",
     "NVIDIA A100-SXM4-40GB",
     80,
     108,
     40960,
     40,
     1555,
     5120,
     19.5,
     312,
     4,
     31.5,
     12,
     25781,
     300,
     3,
     true,
     false,
     {{{"1g.5gb", 1, 14, 1, 4864, 1},
       {"1g.10gb", 1, 14, 2, 9984, 1},
       {"2g.10gb", 2, 28, 2, 9984, 2},
       {"3g.20gb", 3, 42, 4, 20096, 3},
       {"4g.20gb", 4, 56, 4, 20096, 4},
       {"7g.40gb", 7, 98, 8, 40448, 7}}}},
    {"rtx-4090",
     "NVIDIA GeForce RTX 4090",
     89,
     128,
     24564,
     72,
     1008,
     384,
     82.6,
     165.2,
     4,
     31.5,
     0,
     1,
     1,
     2,
     false,
     false,
     {}},
    {"rtx-5090",
     "NVIDIA GeForce RTX 5090",
     120,
     170,
     32607,
     96,
     1792,
     512,
     104.8,
     209.5,
     5,
     63,
     0,
     1,
     1,
     2,
     false,
     false,
     {}},
    {"gb10", "NVIDIA GB10", 121, 48, 122570, 24, 273, 256, 31, 62, 0, 136, 0, 1, 1, 2, true, true, {}},
    {"h100",
     "NVIDIA H100 80GB HBM3",
     90,
     132,
     81559,
     50,
     3350,
     5120,
     67,
     989,
     5,
     63,
     18,
     26562,
     450,
     3,
     true,
     false,
     {{{"1g.10gb", 1, 16, 1, 9984, 1},
       {"1g.20gb", 1, 26, 2, 20096, 1},
       {"2g.20gb", 2, 32, 2, 20096, 2},
       {"3g.40gb", 3, 60, 4, 40448, 3},
       {"4g.40gb", 4, 64, 4, 40448, 4},
       {"7g.80gb", 7, 132, 8, 81152, 8}}}},
    {"h200",
     "NVIDIA H200",
     90,
     132,
     143771,
     60,
     4800,
     6144,
     67,
     989,
     5,
     63,
     18,
     26562,
     450,
     3,
     true,
     false,
     {{{"1g.18gb", 1, 16, 1, 16384, 1},
       {"1g.35gb", 1, 26, 2, 33024, 1},
       {"2g.35gb", 2, 32, 2, 33024, 2},
       {"3g.71gb", 3, 60, 4, 71168, 3},
       {"4g.71gb", 4, 64, 4, 71168, 4},
       {"7g.141gb", 7, 132, 8, 143360, 8}}}},
    {"b200",
     "NVIDIA B200",
     100,
     148,
     183359,
     126,
     7700,
     8192,
     75,
     2250,
     5,
     63,
     18,
     53125,
     900,
     4,
     true,
     false,
     {{{"1g.23gb", 1, 18, 1, 22528, 2},
       {"1g.45gb", 1, 30, 2, 45312, 2},
       {"2g.45gb", 2, 36, 2, 45312, 4},
       {"3g.90gb", 3, 70, 4, 90880, 6},
       {"4g.90gb", 4, 72, 4, 90880, 8},
       {"7g.180gb", 7, 148, 8, 182272, 16}}}},
};

const Model* model_of(const CardSettings& card) { return card.model < 0 ? nullptr : &kModels[card.model]; }

const Limits& limits_of(int64_t cc) {
  for (const Limits& limits : kLimits)
    if (limits.cc == cc) return limits;
  return kLimits[0];
}

}  // namespace

bool become_model(const std::string& name, CardSettings& card) {
  for (const Model& model : kModels) {
    if (name != model.name) continue;
    const Limits& limits = limits_of(model.cc);
    card.model = &model - kModels;
    card.cc = model.cc;
    card.threads = limits.threads;
    card.blocks = limits.blocks;
    card.shared_kib = limits.shared_kib;
    card.shared_block_kib = limits.shared_block_kib;
    card.cores = limits.cores;
    card.sms = model.sms;
    card.memory_mib = model.memory_mib;
    card.l2_mib = model.l2_mib;
    card.dram_gbs = model.dram_gbs;
    card.bus_bits = model.bus_bits;
    card.fp32_tflops = model.fp32_tflops;
    card.tensor_tflops = model.tensor_tflops;
    card.pcie_gen = model.pcie_gen;
    card.pcie_gbs = model.pcie_gbs;
    card.nvlinks = model.nvlinks;
    card.nvlink_mbs = model.nvlink_mbs;
    card.link_gbs = model.link_gbs;
    card.copy_engines = model.copy_engines;
    card.integrated = model.integrated ? 1 : 0;
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
