#include "bench/largest_block.h"

#include <algorithm>

#include "base/clock.h"
#include "bench/held_memory.h"

namespace gvb {

using abi::CUDA_SUCCESS;
using abi::CUresult;

namespace {

class Bisection {
 public:
  Bisection(DeviceSession& session, const LargestBlockRequest& request)
      : session_(session), request_(request), path_(make_path(session, request.path)), began_(now_ns()) {
    step_ = std::max<uint64_t>(request.granule_bytes, path_->sizes().step);
  }

  LargestBlock run() {
    if (request_.beyond_bytes > 0) found_.beyond = granted(request_.beyond_bytes / step_ * step_);
    // In granules: `low` was granted, `high` was refused or exceeds the free memory.
    uint64_t low = 0, high = request_.free_bytes / step_ + 1;
    // Usually all free memory is one block.
    uint64_t middle = high - 1;
    while (high - low > 1 && may_go_on()) {
      if (granted(middle * step_))
        low = middle;
      else
        high = middle;
      middle = low + (high - low) / 2;
    }
    found_.bytes = low * step_;
    found_.decided = high - low <= 1;
    if (low > 0) look_again();
    return found_;
  }

 private:
  bool may_go_on() const {
    session_.token.check();
    return found_.probes < request_.most_probes && static_cast<uint64_t>(now_ns() - began_) < request_.most_ns;
  }

  bool granted(uint64_t bytes) {
    ++found_.probes;
    PathBlock block;
    block.bytes = bytes;
    const CUresult code = path_->allocate(block);
    if (code == CUDA_SUCCESS) {
      session_.cuda.check(path_->release(block), path_->failed_call, "freeing a test block");
      path_->finish();
      return true;
    }
    if (is_sticky(code)) session_.cuda.check(code, path_->failed_call, "searching for the largest block");
    found_.refusal = session_.cuda.error_name(code);
    found_.refused_bytes = std::min(bytes, found_.refused_bytes.value_or(bytes));
    return false;
  }

  void look_again() {
    HeldMemory once(session_);
    const CUresult code =
        once.take(once.begin(make_path(session_, request_.path)), static_cast<size_t>(found_.bytes), found_.no_memory);
    if (code == CUDA_SUCCESS && found_.no_memory.empty()) found_.no_memory = once.look_at_all();
    found_.again = code == CUDA_SUCCESS;
  }

  DeviceSession& session_;
  const LargestBlockRequest& request_;
  const std::unique_ptr<PathAllocator> path_;
  const int64_t began_;
  uint64_t step_ = 1;
  LargestBlock found_;
};

}  // namespace

LargestBlock find_largest_block(DeviceSession& session, const LargestBlockRequest& request) {
  return Bisection(session, request).run();
}

}  // namespace gvb
