#include "sim/work/launch.h"

#include <sched.h>

#include <algorithm>
#include <climits>

#include "base/thread.h"
#include "sim/clock.h"
#include "sim/exports.h"
#include "sim/memory/address_space.h"
#include "sim/memory/between_cards.h"

namespace gvb::sim {
namespace {

constexpr abi::CUresult kCooperativeLaunchTooLarge = 720;

// The thread that runs a kernel which answers the host. It starts with the kernel's first instruction, in real time,
// and the kernel ends with it.
struct Answering {
  Context* context;
  LanePoint point;
  std::function<void(const Placement&)> run;
  int submitter;  // the launching processor, or -1
};

void answer_on_thread(const std::shared_ptr<Answering>& kernel) {
  Context* context = kernel->context;
  leave_processor(kernel->submitter);
  // The kernel reads the results of earlier work.
  while (!context->card->has_begun(kernel->point)) {
    look(context);
    sched_yield();
  }
  const int64_t start = context->card->start_of(kernel->point);
  wait_until(start);
  if (!context->card->is_over(kernel->point)) kernel->run({start, start});
  context->card->end_open(kernel->point.lane, raw_now());
  context->answering.fetch_sub(1);
}

void start_answering(Context* context, const LanePoint& point, std::function<void(const Placement&)> run) {
  auto kernel = std::make_shared<Answering>();
  *kernel = {context, point, std::move(run), sched_getcpu()};
  context->answering.fetch_add(1);
  if (start_thread(Processors::kProcesses, [kernel] { answer_on_thread(kernel); })) return;
  context->answering.fetch_sub(1);
  context->card->end_open(point.lane, raw_now());
}

Demand demand_of_kernel(const Plan& plan, const Geometry& geometry, const CardSettings& card) {
  Demand demand = plan.demand;
  demand[kSms] = std::max(demand[kSms], std::min(1.0, blocks_of(geometry) / resident_blocks(geometry, card)));
  return demand;
}

int64_t threads_of(const Geometry& geometry) {
  return int64_t{1} * geometry.block[0] * geometry.block[1] * geometry.block[2];
}

// The block, if it is memory of a card, and that card is another one.
std::optional<Block> block_elsewhere(const Context& context, const Span& span) {
  auto block = find_block(span.address);
  if (!block || is_of_host(block->kind) || block->kind == BlockKind::kManaged) return std::nullopt;
  if (block->device == context.device || block->kind == BlockKind::kMapped) return std::nullopt;
  return block;
}

bool may_touch(Context* context, const Span& span) {
  if (!is_accessible(span.address, span.bytes)) return false;
  const auto block = block_elsewhere(*context, span);
  if (!block) return true;
  const std::lock_guard<std::mutex> lock(context->mutex);
  return context->peers.count(block->device) > 0;
}

// A kernel takes at least as long as its data between the cards.
void add_ways(const Context& context, Plan* plan) {
  for (const Span& span : plan->touches) {
    const auto block = block_elsewhere(context, span);
    if (!block) continue;
    open_to_other_cards(*block);
    const int own = context.device, other = block->device;
    for (const bool in : {true, false}) {
      if (span.access == (in ? Access::kWrite : Access::kRead)) continue;
      const Way way = in ? way_between(own, other, own) : way_between(own, own, other);
      plan->nanoseconds = std::max(plan->nanoseconds, static_cast<double>(span.bytes) / way.gbs);
      plan->demand[way.resource] = std::max(plan->demand[way.resource], way.part);
    }
  }
}

// Whether the host could read what a kernel writes, or change what it reads, without a call to the driver.
bool seen_by_host(const std::vector<Span>& touches) {
  return std::any_of(touches.begin(), touches.end(), [](const Span& span) { return is_visible_to_host(span.address); });
}

abi::CUresult launch(abi::CUfunction handle, Geometry geometry, abi::CUstream stream_handle, void** arguments,
                     int64_t until) {
  region().act(Act::kLaunch);
  const auto [context, context_code] = current_context();
  if (context_code != abi::CUDA_SUCCESS) return context_code;
  Stream* stream = stream_of(context, stream_handle);
  if (stream == nullptr) return abi::CUDA_ERROR_INVALID_HANDLE;
  const FunctionInfo* function = find_function(handle);
  if (function == nullptr || function->context != context->handle) return abi::CUDA_ERROR_INVALID_HANDLE;
  geometry.multiprocessors = stream->multiprocessors;
  if (stream->capture != nullptr) return capture_kernel(*stream, handle, geometry, arguments);
  Prepared prepared = prepare(context, *function, geometry, arguments);
  if (prepared.code != abi::CUDA_SUCCESS) return prepared.code;
  const std::lock_guard<std::mutex> lock(context->mutex);
  submit(stream, std::move(prepared.plan), first_instruction(until), RecordedCall::of_kernel(function->name));
  return abi::CUDA_SUCCESS;
}

}  // namespace

abi::CUresult check_geometry(const Geometry& geometry, const CardSettings& card) {
  const unsigned* grid = geometry.grid;
  const unsigned* block = geometry.block;
  const bool grid_fits =
      grid[0] > 0 && grid[0] <= INT_MAX && grid[1] > 0 && grid[1] <= 65535 && grid[2] > 0 && grid[2] <= 65535;
  const bool block_fits = block[0] > 0 && block[0] <= 1024 && block[1] > 0 && block[1] <= 1024 && block[2] > 0 &&
                          block[2] <= 64 && block[0] * block[1] * block[2] <= kMaxThreadsPerBlock;
  if (!grid_fits || !block_fits || geometry.shared_bytes > most_shared_bytes(card))
    return abi::CUDA_ERROR_INVALID_VALUE;
  const int64_t threads = threads_of(geometry);
  const bool resident = threads <= card.threads && threads * kRegisters <= card.registers;
  return resident ? abi::CUDA_SUCCESS : abi::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
}

Prepared prepare(Context* context, const FunctionInfo& function, const Geometry& geometry, void* const* arguments) {
  Prepared prepared;
  prepared.code = check_geometry(geometry, card_settings(context->device));
  if (geometry.shared_bytes > function.most_dynamic_shared || threads_of(geometry) > function.most_threads)
    prepared.code = abi::CUDA_ERROR_INVALID_VALUE;
  if (prepared.code != abi::CUDA_SUCCESS) return prepared;
  const Kernel* kernel = function.kernel;
  if (kernel == nullptr) {
    prepared.code = abi::CUDA_ERROR_NOT_SUPPORTED;
    return prepared;
  }
  for (size_t i = 0; i < kernel->parameter_bytes.size(); ++i)
    if (arguments == nullptr || arguments[i] == nullptr) prepared.code = abi::CUDA_ERROR_INVALID_VALUE;
  if (prepared.code != abi::CUDA_SUCCESS) return prepared;
  const CardSettings& card = card_settings(context->device);
  prepared.plan = kernel->plan(Arguments(arguments), geometry, card);
  prepared.plan.demand = demand_of_kernel(prepared.plan, geometry, card);
  prepared.plan.blocks = block_slots_of(geometry, card);
  for (const Span& span : prepared.plan.touches) {
    if (span.address % span.alignment == 0 && may_touch(context, span)) continue;
    // As on a GPU, the launch succeeds and the context's following calls fail.
    Plan failing;
    failing.fault = span.address % span.alignment == 0 ? kOutOfBounds : kMisaligned;
    prepared.plan = std::move(failing);
    break;
  }
  add_ways(*context, &prepared.plan);
  return prepared;
}

Submission submission_of(const Context& context, Plan* plan, int64_t earliest, std::shared_ptr<LateTimes> times) {
  Submission submission;
  Item& item = submission.item;
  item.kind = plan->ending == Ending::kInTime ? ItemKind::kWork : ItemKind::kOpen;
  item.not_before = earliest;
  item.alone_ns = card_settings(context.device).kernel_ns + plan->nanoseconds;
  item.demand = plan->demand;
  item.blocks = plan->blocks;
  item.set = plan->set;
  item.fault = plan->fault;
  Work& work = submission.work;
  work.seen = seen_by_host(plan->touches) ? std::max(plan->seen, Seen::kWhenOver) : plan->seen;
  for (const Span& span : plan->touches) {
    const Range range = range_of(span.address, span.bytes);
    if (span.access == Access::kUnseen) continue;
    if (span.access != Access::kWrite) work.reads.push_back(range);
    if (span.access != Access::kRead) work.writes.push_back(range);
  }
  if (plan->ending == Ending::kInTime) work.run = std::move(plan->run);
  if (plan->compute) {
    work.run = [](const Placement&) {};
    work.compute = std::move(plan->compute);
  }
  work.counts = std::move(plan->counts);
  if (times != nullptr)
    work.placed = [times = std::move(times)](const Placement& placement) {
      times->add(placement.start, placement.end, placement.missed);
    };
  return submission;
}

void submit(Stream* stream, Plan plan, int64_t earliest, std::shared_ptr<LateTimes> times) {
  const LanePoint point = submit(stream, submission_of(*stream->context, &plan, earliest, std::move(times)));
  if (plan.ending == Ending::kAnswering) start_answering(stream->context, point, std::move(plan.run));
}

}  // namespace gvb::sim

namespace gvb::abi {

using sim::Geometry;
using sim::HostCost;

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** arguments,
                        void** extra) {
  GVB_SIM_ENTER(cuLaunchKernel);
  const HostCost cost(sim::settings().launch_ns);
  if (extra != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const Geometry geometry = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes};
  return sim::launch(function, geometry, stream, arguments, cost.until());
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra) {
  GVB_SIM_ENTER(cuLaunchKernelEx);
  const HostCost cost(sim::settings().launch_ns);
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (extra != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  // The attribute allows a kernel to begin before the previous one ends. Here it never does.
  for (unsigned i = 0; i < config->numAttrs; ++i)
    if (config->attrs[i].id != CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) return CUDA_ERROR_NOT_SUPPORTED;
  const Geometry geometry = {{config->gridDimX, config->gridDimY, config->gridDimZ},
                             {config->blockDimX, config->blockDimY, config->blockDimZ},
                             config->sharedMemBytes};
  return sim::launch(function, geometry, config->hStream, arguments, cost.until());
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                   CUstream stream, void** arguments) {
  GVB_SIM_ENTER_CONTEXT(cuLaunchCooperativeKernel);
  const HostCost cost(sim::settings().launch_ns);
  const Geometry geometry = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes};
  const sim::CardSettings& card = sim::card_settings(context->device);
  if (const CUresult bad = sim::check_geometry(geometry, card)) return bad;
  const sim::Stream* target = sim::stream_of(context, stream);
  const double part = target == nullptr || target->multiprocessors == 0
                          ? 1
                          : static_cast<double>(target->multiprocessors) / static_cast<double>(card.sms);
  if (sim::blocks_of(geometry) > part * sim::resident_blocks(geometry, card)) return sim::kCooperativeLaunchTooLarge;
  return sim::launch(function, geometry, stream, arguments, cost.until());
}

}  // namespace gvb::abi
