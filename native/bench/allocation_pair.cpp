#include "bench/allocation_pair.h"

#include <random>

#include "bench/on_core.h"

namespace gvb {

namespace {

constexpr const char* kAllocation = "cuMemAlloc_v2";
constexpr const char* kFree = "cuMemFree_v2";

struct Turn {
  double allocation_ns = 0, free_ns = 0;
  void operator+=(const Turn& other) {
    allocation_ns += other.allocation_ns;
    free_ns += other.free_ns;
  }
};

// One path to the driver, with its live blocks.
struct Way {
  Way(const Cuda& like, const CudaApi& functions, size_t bytes)
      : cuda(like, functions), allocator(make_direct_allocator(cuda, bytes)), blocks(cuda, *allocator) {}

  Turn take(FreeOrder order, std::mt19937_64& random) {
    Turn turn;
    turn.allocation_ns = blocks.allocate();
    turn.free_ns = blocks.free_at(blocks.next(order, random));
    return turn;
  }

  const Cuda cuda;
  const std::unique_ptr<Allocator> allocator;
  LiveBlocks blocks;
};

class Pairs {
 public:
  Pairs(DeviceSession& session, const AllocationPairRequest& request)
      : session_(session),
        request_(request),
        random_(request.seed),
        hooked_(session.cuda, session.cuda.api, request.bytes),
        bare_(session.cuda, session.driver.tables.reference_of(session.cuda.path), request.bytes) {
    // Alternately, or one of the sets would be more contiguous than the other.
    for (size_t live = 1; live <= request.live; ++live)
      for (Way* way : {&hooked_, &bare_}) way->blocks.resize(live, session.token);
    verify();
  }

  void visit(AllocationPairs& pairs) {
    for (unsigned i = 0; i < request_.warmup + request_.count; ++i) {
      session_.token.check();
      Way& outer = random_() & 1 ? hooked_ : bare_;
      Way& inner = &outer == &hooked_ ? bare_ : hooked_;
      Turn outer_turns = take(outer), inner_turns = take(inner);
      inner_turns += take(inner);
      outer_turns += take(outer);
      if (i < request_.warmup) continue;
      const Turn& hooked = &outer == &hooked_ ? outer_turns : inner_turns;
      const Turn& bare = &outer == &hooked_ ? inner_turns : outer_turns;
      pairs.allocation.hooked_ns.push_back(hooked.allocation_ns / 2);
      pairs.allocation.bare_ns.push_back(bare.allocation_ns / 2);
      pairs.free.hooked_ns.push_back(hooked.free_ns / 2);
      pairs.free.bare_ns.push_back(bare.free_ns / 2);
    }
  }

  // Checks that both paths return real memory and do not share any.
  void verify() {
    std::vector<abi::CUdeviceptr> all = hooked_.blocks.pointers();
    for (const abi::CUdeviceptr pointer : bare_.blocks.pointers()) all.push_back(pointer);
    check_disjoint(all, request_.bytes);
    for (const Way* way : {&hooked_, &bare_}) way->blocks.verify(request_.bytes, random_);
  }

 private:
  Turn take(Way& way) { return way.take(request_.order, random_); }

  DeviceSession& session_;
  const AllocationPairRequest& request_;
  std::mt19937_64 random_;
  Way hooked_, bare_;
};

}  // namespace

AllocationPairs measure_allocation_pairs(DeviceSession& session, const AllocationPairRequest& request) {
  AllocationPairs out{PairBlock(paired_pointers(session, kAllocation)), PairBlock(paired_pointers(session, kFree))};
  Pairs pairs(session, request);
  const InterposerAccount account;
  for (unsigned visit = 0; visit < request.visits; ++visit) {
    const OnCore core(request.core + visit);
    pairs.visit(out);
  }
  pairs.verify();
  out.allocation.achieved_ns = account.of(kAllocation);
  out.free.achieved_ns = account.of(kFree);
  return out;
}

}  // namespace gvb
