// Parts of a card's multiprocessors. A partition is a client of the card that takes the turns of its context.
#include "sim/work/green_context.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "sim/exports.h"
#include "sim/settings.h"

namespace gvb::sim {
namespace {

// In the padding of a resource that this driver made.
struct Origin {
  uint32_t mark;
  int32_t device;
};
constexpr uint32_t kMark = 0x6776b5e5;

struct Description {
  int device = -1;
  unsigned multiprocessors = 0;
};

struct GreenContext {
  Context* context = nullptr;  // the primary one
  abi::CUdevice ordinal = 0;
  int client = -1;
  unsigned multiprocessors = 0;  // that it says it has
  abi::CUcontext view = nullptr;
};

using DescriptionTable = HandleTable<Description, 0x1e>;
using GreenContextTable = HandleTable<GreenContext, 0x1f>;
using GreenViewTable = HandleTable<GreenView, 0x20>;

DescriptionTable& descriptions() {
  static DescriptionTable& table = *new DescriptionTable;
  return table;
}

GreenContextTable& green_contexts() {
  static GreenContextTable& table = *new GreenContextTable;
  return table;
}

GreenViewTable& green_views() {
  static GreenViewTable& table = *new GreenViewTable;
  return table;
}

SmPart part_of(const GreenContext& green) {
  const int64_t really = card_settings(green.context->device).partition_sms;
  return {green.client, really > 0 ? static_cast<unsigned>(really) : green.multiprocessors};
}

abi::CUdevResource resource_of(int device, unsigned multiprocessors) {
  abi::CUdevResource resource{};
  resource.type = abi::CU_DEV_RESOURCE_TYPE_SM;
  const Origin origin{kMark, device};
  std::memcpy(resource.padding, &origin, sizeof origin);
  resource.sm.smCount = multiprocessors;
  return resource;
}

// The card of a resource; -1: this driver did not make it.
int device_of(const abi::CUdevResource& resource) {
  Origin origin{};
  std::memcpy(&origin, resource.padding, sizeof origin);
  return resource.type == abi::CU_DEV_RESOURCE_TYPE_SM && origin.mark == kMark ? origin.device : -1;
}

// The CUDA driver API's rules: at least so many, and a multiple.
struct Rule {
  unsigned least, step;
};
Rule rule_of(int device) {
  const int64_t cc = card_settings(device).cc;
  return cc >= 90 ? Rule{8, 8} : cc >= 80 ? Rule{4, 2} : Rule{2, 2};
}

unsigned granted(const Rule& rule, unsigned wanted) {
  return std::max(rule.least, (wanted + rule.step - 1) / rule.step * rule.step);
}

// Streams of a partition that is gone: their work is waited for, and their lanes are free.
void end_streams(Context* context, int client) {
  synchronise(context, nullptr);
  const std::lock_guard<std::mutex> lock(context->mutex);
  auto& all = context->streams;
  for (size_t i = all.size(); i-- > 0;) {
    if (all[i]->partition != client) continue;
    context->retired.push_back(streams().remove(reinterpret_cast<uint64_t>(all[i]->handle)));
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
  }
  release_retired(context);
}

}  // namespace

const GreenView* green_view(abi::CUcontext handle) { return green_views().find(reinterpret_cast<uint64_t>(handle)); }

}  // namespace gvb::sim

namespace gvb::abi {

CUresult cuDeviceGetDevResource(CUdevice ordinal, CUdevResource* resource, CUdevResourceType type) {
  GVB_SIM_ENTER(cuDeviceGetDevResource);
  const int device = sim::physical_device(ordinal);
  if (resource == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (device < 0) return CUDA_ERROR_INVALID_DEVICE;
  if (type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  *resource = sim::resource_of(device, static_cast<unsigned>(sim::card_settings(device).sms));
  return CUDA_SUCCESS;
}

CUresult cuDevSmResourceSplitByCount(CUdevResource* result, unsigned* groups, const CUdevResource* input,
                                     CUdevResource* remaining, unsigned flags, unsigned least) {
  GVB_SIM_ENTER(cuDevSmResourceSplitByCount);
  if (groups == nullptr || input == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const int device = sim::device_of(*input);
  if (device < 0) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  const unsigned all = input->sm.smCount;
  const unsigned each =
      sim::card_settings(device).partition_whole != 0 ? all : sim::granted(sim::rule_of(device), least);
  if (each > all) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
  *groups = result == nullptr ? all / each : std::min(*groups, all / each);
  if (result != nullptr) std::fill_n(result, *groups, sim::resource_of(device, each));
  if (remaining != nullptr) *remaining = sim::resource_of(device, all - *groups * each);
  return CUDA_SUCCESS;
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc* handle, CUdevResource* resources, unsigned count) {
  GVB_SIM_ENTER(cuDevResourceGenerateDesc);
  if (handle == nullptr || resources == nullptr || count != 1) return CUDA_ERROR_INVALID_VALUE;
  auto description = std::make_unique<sim::Description>();
  *description = {sim::device_of(resources[0]), resources[0].sm.smCount};
  if (description->device < 0) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  if (description->multiprocessors == 0) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
  *handle = reinterpret_cast<CUdevResourceDesc>(sim::descriptions().insert(std::move(description)));
  return CUDA_SUCCESS;
}

CUresult cuGreenCtxCreate(CUgreenCtx* handle, CUdevResourceDesc of, CUdevice ordinal, unsigned flags) {
  GVB_SIM_ENTER(cuGreenCtxCreate);
  const sim::Description* description = sim::descriptions().find(reinterpret_cast<uint64_t>(of));
  if (handle == nullptr || flags != CU_GREEN_CTX_DEFAULT_STREAM) return CUDA_ERROR_INVALID_VALUE;
  if (description == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (sim::physical_device(ordinal) != description->device) return CUDA_ERROR_INVALID_DEVICE;
  CUcontext primary = nullptr;
  if (const CUresult bad = cuDevicePrimaryCtxRetain(&primary, ordinal)) return bad;
  const sim::CardSettings& card = sim::card_settings(description->device);
  const auto really = card.partition_sms > 0 ? static_cast<double>(card.partition_sms) : description->multiprocessors;
  auto green = std::make_unique<sim::GreenContext>();
  green->context = sim::contexts().find(reinterpret_cast<uint64_t>(primary));
  green->ordinal = ordinal;
  green->multiprocessors = description->multiprocessors;
  green->client = green->context->card->open_partition(green->context->client,
                                                       std::min(1.0, really / static_cast<double>(card.sms)));
  if (green->client < 0) {
    cuDevicePrimaryCtxRelease_v2(ordinal);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *handle = reinterpret_cast<CUgreenCtx>(sim::green_contexts().insert(std::move(green)));
  return CUDA_SUCCESS;
}

CUresult cuCtxFromGreenCtx(CUcontext* context, CUgreenCtx handle) {
  GVB_SIM_ENTER(cuCtxFromGreenCtx);
  sim::GreenContext* green = sim::green_contexts().find(reinterpret_cast<uint64_t>(handle));
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (green == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (green->view == nullptr) {
    auto view = std::make_unique<sim::GreenView>();
    view->context = green->context;
    view->part = sim::part_of(*green);
    CUstream stream = nullptr;
    if (const CUresult bad = sim::create_stream(green->context, view->part, CU_STREAM_DEFAULT, 0, &stream)) return bad;
    view->default_stream = sim::streams().find(reinterpret_cast<uint64_t>(stream));
    green->view = reinterpret_cast<CUcontext>(sim::green_views().insert(std::move(view)));
  }
  *context = green->view;
  return CUDA_SUCCESS;
}

CUresult cuGreenCtxDestroy(CUgreenCtx handle) {
  GVB_SIM_ENTER(cuGreenCtxDestroy);
  const std::unique_ptr<sim::GreenContext> green = sim::green_contexts().remove(reinterpret_cast<uint64_t>(handle));
  if (green == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  sim::green_views().remove(reinterpret_cast<uint64_t>(green->view));
  sim::end_streams(green->context, green->client);
  green->context->card->close_client(green->client);
  return cuDevicePrimaryCtxRelease_v2(green->ordinal);
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx handle, CUdevResource* resource, CUdevResourceType type) {
  GVB_SIM_ENTER(cuGreenCtxGetDevResource);
  const sim::GreenContext* green = sim::green_contexts().find(reinterpret_cast<uint64_t>(handle));
  if (resource == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (green == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  *resource = sim::resource_of(green->context->device, green->multiprocessors);
  return CUDA_SUCCESS;
}

CUresult cuGreenCtxStreamCreate(CUstream* stream, CUgreenCtx handle, unsigned flags, int priority) {
  GVB_SIM_ENTER(cuGreenCtxStreamCreate);
  const sim::GreenContext* green = sim::green_contexts().find(reinterpret_cast<uint64_t>(handle));
  if (green == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  return sim::create_stream(green->context, sim::part_of(*green), flags, priority, stream);
}

}  // namespace gvb::abi
