#include "bench/aggressor.h"

#include <algorithm>
#include <atomic>

#include "base/wait.h"
#include "bench/aggressor_item.h"
#include "bench/kept_modules.h"

namespace gvb {

namespace {

constexpr uint64_t kMostApartNs = 100'000'000;

std::atomic<uint64_t> operations_over{0};
std::atomic<bool> is_enough{false};

// Progress over time, in a bounded number of marks even for a million launches.
class Marks {
 public:
  Marks(Aggression* out, const AggressorRequest& request)
      : out_(out),
        origin_(request.start_at_ns),
        apart_(static_cast<int64_t>(std::min(request.window_ns / 256, kMostApartNs))) {}

  void add(uint64_t over) {
    if (over == 0) return;
    out_->operations += over;
    operations_over = out_->operations;
    const int64_t now = now_ns();
    if (now < next_) return;
    out_->marks_ns.push_back(static_cast<double>(now - origin_));
    next_ = now + apart_;
  }

 private:
  Aggression* out_;
  const int64_t origin_, apart_;
  int64_t next_ = 0;
};

bool makes_calls(AggressorKind kind) {
  switch (kind) {
    case AggressorKind::kCopyToDevice:
    case AggressorKind::kCopyToHost:
    case AggressorKind::kAllocStorm:
    case AggressorKind::kContextStorm:
      return true;
    default:
      return false;
  }
}

void check_blocks(uint64_t counted, uint64_t expected) {
  if (counted == expected) return;
  throw Failure(FailureKind::kInvalidResult,
                "a call of an aggressor reported success without doing its work: the driver "
                "accepted " +
                    std::to_string(expected) + " blocks, the device ran " + std::to_string(counted) + ".");
}

void run(AggressorItem& item, const AggressorTools& tools, Aggression* out) {
  const AggressorRequest& request = tools.request;
  const CancelToken& token = tools.session.token;
  Marks marks(out, request);
  wait_for_release(request.start_at_ns, [&] { token.check(); });
  const int64_t started = now_ns();
  out->started_ns = static_cast<double>(started - request.start_at_ns);
  let_others_begin();
  // Whatever made it late, such as a module that the driver had to assemble, leaves it the whole window.
  const int64_t until = started + static_cast<int64_t>(request.window_ns);
  while (now_ns() < until && !is_enough) {
    token.check();
    marks.add(item.next());
  }
  marks.add(item.finish());
  out->ended_ns = static_cast<double>(now_ns() - request.start_at_ns);
}

}  // namespace

Aggression attack(DeviceSession& session, const AggressorRequest& request) {
  operations_over = 0;
  is_enough = false;
  Aggression out;
  const BlockCounters counters(session.cuda);
  const AggressorTools tools{session, request, kept_module(session, "aggressors"), counters};
  try {
    const auto item = makes_calls(request.kind) ? make_storm_item(tools) : make_kernel_item(tools);
    item->describe(&out);
    run(*item, tools, &out);
    item->describe(&out);
    GVB_CALL(session.cuda, "waiting for an aggressor's work", cuCtxSynchronize);
    out.blocks = counters.read();
    check_blocks(out.blocks, item->blocks_of(out.operations));
  } catch (const Missing& missing) {
    out.missing = missing.why;
  }
  return out;
}

uint64_t attack_operations() { return operations_over; }

void end_attack() { is_enough = true; }

}  // namespace gvb
