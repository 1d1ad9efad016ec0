#include "sim/memory/graph_memory.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

#include "sim/exports.h"
#include "sim/work/context.h"

namespace gvb::sim {
namespace {

struct GraphMemory {
  std::mutex mutex;
  int64_t idle[kMaxDevices] = {};  // reserved from the card but not used by any block
  std::map<uint64_t, std::shared_ptr<GraphAddresses>> live;
};

GraphMemory& memory() {
  static GraphMemory& instance = *new GraphMemory;
  return instance;
}

int64_t counted(size_t bytes) { return static_cast<int64_t>(footprint(bytes)); }

}  // namespace

std::shared_ptr<GraphAddresses> GraphAddresses::take(int place, size_t size) {
  const uint64_t address = take_device_addresses(place, size);
  if (address == 0) return nullptr;
  return std::shared_ptr<GraphAddresses>(new GraphAddresses(place, address, size));
}

GraphAddresses::~GraphAddresses() { give_device_addresses(device, address, bytes); }

abi::CUresult allocate_for_graph(Context* context, const std::shared_ptr<GraphAddresses>& addresses) {
  const auto [device, address, bytes] = std::tuple(addresses->device, addresses->address, addresses->bytes);
  const std::lock_guard<std::mutex> lock(memory().mutex);
  if (memory().live.count(address) > 0) return abi::CUDA_ERROR_INVALID_VALUE;
  int64_t& idle = memory().idle[device];
  const int64_t lacking = counted(bytes) - std::min(idle, counted(bytes));
  if (lacking > 0 && !region().take(device, lacking)) return abi::CUDA_ERROR_OUT_OF_MEMORY;
  idle -= counted(bytes) - lacking;
  memory().live[address] = addresses;
  register_block({address, bytes, BlockKind::kGraph, device, context->id, 0, true});
  return abi::CUDA_SUCCESS;
}

void give_graph_memory(const Block& block) {
  const std::lock_guard<std::mutex> lock(memory().mutex);
  memory().idle[block.device] += counted(block.bytes);
  memory().live.erase(block.address);
}

}  // namespace gvb::sim

namespace gvb::abi {

CUresult cuDeviceGraphMemTrim(CUdevice device) {
  GVB_SIM_ENTER(cuDeviceGraphMemTrim);
  const int place = sim::physical_device(device);
  if (place < 0) return CUDA_ERROR_INVALID_DEVICE;
  const std::lock_guard<std::mutex> lock(sim::memory().mutex);
  sim::region().give(place, sim::memory().idle[place]);
  sim::memory().idle[place] = 0;
  return CUDA_SUCCESS;
}

}  // namespace gvb::abi
